import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import { type Collection, isHiddenPath } from '../collection.ts';
import { usersCollection } from '../names.ts';
import { isFieldPath, isUnknownPath, typeAt } from '../schema/field-path.ts';
import { ruleRefField, ruleUserField } from '../schema/users.ts';

const maxLevels = 8;

export interface RulePlace {
  /** `after` also allows `$stored` and `$only`; `write`: `$doc` through a Ref, and in `$from`. */
  readonly kind:
    | 'read'
    | 'write'
    | 'after'
    | 'user'
    | 'ref'
    | 'from'
    | 'fromOfWrite'
    | 'stored'
    | 'elements'
    | 'literals';
  readonly isStrict: boolean;
}

export interface RuleScope {
  readonly place: RulePlace;
  readonly collection: Collection;
  /** The collection that has the rule; `$doc` in `$from` refers to it. */
  readonly own: Collection;
  readonly known: ReadonlyMap<string, Collection>;
  readonly at: string;
  /** The path of the array whose elements the condition applies to, with a dot; '' at the top. */
  readonly prefix: string;
  readonly level: number;
  readonly tally: { comparisons: number; from: number; ref: number };
}

/** 400 naming the path, such as `rules.read.$or.1.team`. */
export const invalidRls = (at: string, reason: string): AppError => {
  const message = `${cutText(at, 200, '…')} ${reason}`;
  return new AppError('INVALID_RLS', message, { errors: [{ field: cutText(at, 200, '…'), message }] });
};

export const below = (scope: RuleScope, key: string | number): RuleScope => ({ ...scope, at: `${scope.at}.${key}` });

export const deeper = (scope: RuleScope): RuleScope => {
  if (scope.level < maxLevels) return { ...scope, level: scope.level + 1 };
  throw invalidRls(scope.at, `is nested more than ${maxLevels} levels deep.`);
};

const maxCounts: Readonly<Record<keyof RuleScope['tally'], number>> = { comparisons: 100, from: 3, ref: 3 };

/** Throws if the rule has one comparison, `$from` or `$ref` too many. */
export const count = ({ tally, at }: RuleScope, what: keyof RuleScope['tally']): void => {
  tally[what] += 1;
  if (tally[what] <= maxCounts[what]) return;
  const named = what === 'comparisons' ? 'comparisons' : `$${what}`;
  throw invalidRls(at, `is one too many: a rule may contain at most ${maxCounts[what]} ${named}.`);
};

/** The declared type at a path, and whether an Array is on the way. */
export const declared = (collection: Collection, path: string) => {
  const segments = path.split('.');
  const isList = segments.some((_segment, at) => {
    const head = segments.slice(0, at + 1).join('.');
    return typeAt(collection, head)?.type === 'Array' && !/^\d+$/.test(segments[at + 1] ?? '');
  });
  const found = typeAt(collection, path);
  return { isList, type: found?.type === 'Array' ? found.items?.type : found?.type, field: found };
};

const unfiltered: ReadonlySet<string> = new Set(['isDeleted', 'deletedAt']);

export const requireField = (scope: RuleScope, collection: Collection, path: string, isOther = false): void => {
  const [root = ''] = path.split('.', 1);
  if (!isFieldPath(path)) throw invalidRls(scope.at, 'is not a field name.');
  if (isHiddenPath(path) || unfiltered.has(root)) throw invalidRls(scope.at, 'cannot be named by a rule.');
  if (collection.name === usersCollection && (isOther || scope.own.name !== usersCollection || root === 'password')) {
    if (!ruleRefField(collection, path)) {
      throw invalidRls(
        scope.at,
        'is not a public field of users with "write": "server"; rules see no others through a Ref.',
      );
    }
    return;
  }
  const fields = collection.schema;
  const isOwner = collection.rls.enabled && root === collection.rls.ownerField;
  if (fields && !isOwner && isUnknownPath(fields, path)) {
    const { enabled, ownerField } = collection.rls;
    const owner = enabled && ownerField ? ` The owner is the field "${ownerField}".` : '';
    throw invalidRls(scope.at, `names a field that "${collection.name}" does not have.${owner}`);
  }
};

export const requireUserPath = (scope: RuleScope, path: unknown): string => {
  if (typeof path !== 'string') throw invalidRls(scope.at, 'must name a field of the user, as a text.');
  const reason = ruleUserField(scope.known.get(usersCollection), path);
  if (reason) throw invalidRls(scope.at, reason);
  return path;
};

export const userIsList = (scope: RuleScope, path: string): boolean => {
  const users = scope.known.get(usersCollection);
  return users !== undefined && declared(users, path).isList;
};

export const only = (scope: RuleScope, value: Readonly<Record<string, unknown>>, allowed: readonly string[]): void => {
  const other = Object.keys(value).find((key) => !allowed.includes(key));
  if (other !== undefined)
    throw invalidRls(below(scope, other).at, `is not known here; ${allowed.join(', ')} may be used here.`);
};

export const inWrites: ReadonlySet<RulePlace['kind']> = new Set(['write', 'after', 'fromOfWrite']);
export const inFrom: ReadonlySet<RulePlace['kind']> = new Set(['from', 'fromOfWrite']);

/** Throws inside `$every`, because its condition applies to one element. */
export const requireWhole = ({ prefix, at }: RuleScope): void => {
  if (prefix !== '') throw invalidRls(at, 'is about the whole document, so it cannot be used inside $every.');
};
