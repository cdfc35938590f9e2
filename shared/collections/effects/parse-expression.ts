import { AppError } from '../../core/errors.ts';
import { isPlainObject } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import { type Collection, isHiddenPath } from '../collection.ts';
import { usersCollection } from '../names.ts';
import { isFieldPath, isUnknownPath, typeAt } from '../schema/field-path.ts';
import { type FieldType, isScalar, scalarRules, withArticle } from '../schema/field-types.ts';
import { publicProfileProjection } from '../schema/users.ts';
import type { EffectOperator, Expression } from './effect.ts';

const maxLevels = 8;
const maxParts = 100;
const maxOperands = 20;

/** 400 naming the path, such as `effects.0.set.total`. */
export const invalidEffect = (at: string, reason: string): AppError => {
  const field = cutText(at, 200, '…');
  const message = `${field} ${reason}`;
  return new AppError('INVALID_EFFECT', message, { errors: [{ field, message }] });
};

/** The place of an expression in an effect. */
export interface EffectScope {
  readonly at: string;
  readonly collection: Collection;
  readonly known: ReadonlyMap<string, Collection>;
  /** Whether the effect runs after updates, so that there is a document before the write. */
  readonly hasStored: boolean;
  /** Whether what the effect sets is written by an update. */
  readonly updates: boolean;
  readonly level: number;
  /** Names with $ that are no operators of values, such as `$gte` of a condition. */
  readonly keeps?: ReadonlySet<string>;
  readonly tally: { parts: number };
}

export const below = (scope: EffectScope, key: string | number): EffectScope => ({
  ...scope,
  at: `${scope.at}.${key}`,
});

const unread: ReadonlySet<string> = new Set(['isDeleted', 'deletedAt']);

/** Throws unless the collection has the field and effects may read it. */
export const requireField = (scope: EffectScope, collection: Collection, path: string): void => {
  const [root = ''] = path.split('.', 1);
  if (!isFieldPath(path)) throw invalidEffect(scope.at, 'is not a field name.');
  if (isHiddenPath(path) || unread.has(root)) throw invalidEffect(scope.at, 'cannot be read by an effect.');
  const { schema, rls } = collection;
  if (!schema || (rls.enabled && root === rls.ownerField)) return;
  if (isUnknownPath(schema, path)) {
    throw invalidEffect(scope.at, `names a field that "${collection.name}" does not have.`);
  }
};

const asPath = (scope: EffectScope, path: unknown): string => {
  if (typeof path !== 'string') throw invalidEffect(scope.at, 'must name a field, as a text.');
  return path;
};

/** The Ref that a path leads through, and the path in its target. */
const hopOf = (collection: Collection, path: string) => {
  const segments = path.split('.');
  for (let at = 1; at < segments.length; at += 1) {
    const head = segments.slice(0, at).join('.');
    const found = typeAt(collection, head);
    if (found?.type === 'Ref' && found.ref) {
      return { path: head, collection: found.ref, rest: segments.slice(at).join('.') };
    }
  }
  return undefined;
};

const parseDoc = (scope: EffectScope, value: unknown): Expression => {
  const path = asPath(scope, value);
  const hop = hopOf(scope.collection, path);
  if (!hop) {
    requireField(scope, scope.collection, path);
    return { kind: 'doc', at: scope.at, path };
  }
  const target = scope.known.get(hop.collection);
  if (!target) throw invalidEffect(scope.at, `reads the collection "${hop.collection}", which does not exist.`);
  requireField(scope, target, hop.rest);
  const [root = ''] = hop.rest.split('.', 1);
  if (target.name === usersCollection && !Object.hasOwn(publicProfileProjection(target), root)) {
    throw invalidEffect(scope.at, 'is not in the public profile of users, so effects cannot read it through a Ref.');
  }
  return { kind: 'doc', at: scope.at, path: hop.rest, ref: { path: hop.path, collection: hop.collection } };
};

const ofEveryUser: ReadonlySet<string> = new Set(['_id', 'email', 'emailVerified', 'isAnonymous']);

const parseUser = (scope: EffectScope, value: unknown): Expression => {
  const path = asPath(scope, value);
  const [root = ''] = path.split('.', 1);
  const users = scope.known.get(usersCollection);
  if (ofEveryUser.has(path)) return { kind: 'user', at: scope.at, path };
  if (root === 'password' || root.startsWith('_')) throw invalidEffect(scope.at, 'cannot be read by an effect.');
  if (!users?.schema || isUnknownPath(users.schema, path)) {
    throw invalidEffect(scope.at, 'names a field that "users" does not have.');
  }
  return { kind: 'user', at: scope.at, path };
};

const parseStored = (scope: EffectScope, value: unknown): Expression => {
  if (!scope.hasStored) throw invalidEffect(scope.at, 'can only be used in an effect of "update".');
  const path = asPath(scope, value);
  requireField(scope, scope.collection, path);
  return { kind: 'stored', at: scope.at, path };
};

/** How many operands an operator takes; 0: a list of any length. */
const operands: Readonly<Record<EffectOperator, number>> = {
  $add: 0,
  $multiply: 0,
  $concat: 0,
  $subtract: 2,
  $divide: 2,
  $minus: 1,
  $round: 1,
  $lower: 1,
};

const isOperator = (key: string): key is EffectOperator => Object.hasOwn(operands, key);

const parseOperands = (scope: EffectScope, operator: EffectOperator, value: unknown): readonly Expression[] => {
  const count = operands[operator];
  if (count === 1) return [parseExpression(deeper(scope), value)];
  const isFit = Array.isArray(value) && (count === 0 ? value.length > 0 : value.length === count);
  if (!isFit || value.length > maxOperands) {
    const wanted = count === 0 ? `1 to ${maxOperands}` : String(count);
    throw invalidEffect(scope.at, `takes a list of ${wanted} values.`);
  }
  return value.map((operand, index) => parseExpression(below(deeper(scope), index), operand));
};

const deeper = (scope: EffectScope): EffectScope => {
  if (scope.level < maxLevels) return { ...scope, level: scope.level + 1 };
  throw invalidEffect(scope.at, `is nested more than ${maxLevels} levels deep.`);
};

const parseOperation = (scope: EffectScope, key: string, value: unknown): Expression => {
  switch (key) {
    case '$doc':
      return parseDoc(scope, value);
    case '$user':
      return parseUser(scope, value);
    case '$stored':
      return parseStored(scope, value);
    case '$now':
      if (!Number.isSafeInteger(value)) throw invalidEffect(scope.at, 'takes whole milliseconds.');
      return { kind: 'now', ms: Number(value) };
    default:
      if (isOperator(key)) {
        return { kind: 'compute', at: scope.at, operator: key, of: parseOperands(below(scope, key), key, value) };
      }
      throw invalidEffect(
        below(scope, key).at,
        `is not known. $doc, $user, $now, $stored, ${Object.keys(operands).join(', ')} are.`,
      );
  }
};

/** Parses a value of an effect. Throws 400 `INVALID_EFFECT` naming the path. */
export const parseExpression = (scope: EffectScope, value: unknown): Expression => {
  scope.tally.parts += 1;
  if (scope.tally.parts > maxParts) throw invalidEffect(scope.at, `is one too many: an effect has ${maxParts} values.`);
  if (Array.isArray(value)) {
    return { kind: 'list', of: value.map((each, index) => parseExpression(below(deeper(scope), index), each)) };
  }
  if (!isPlainObject(value)) return { kind: 'literal', value };
  const entries = Object.entries(value);
  const named = entries.find(([key]) => key.startsWith('$') && !scope.keeps?.has(key));
  if (!named) {
    return {
      kind: 'object',
      of: entries.map(([key, each]) => [key, parseExpression(below(deeper(scope), key), each)]),
    };
  }
  if (entries.length > 1) throw invalidEffect(scope.at, `has other members beside "${cutText(named[0], 40, '…')}".`);
  return parseOperation(scope, ...named);
};

/** The types of fields that can have what an expression computes; `undefined` if documents decide. */
const typesOf = (value: Expression): readonly FieldType[] | undefined => {
  switch (value.kind) {
    case 'compute':
      return value.operator === '$concat' || value.operator === '$lower'
        ? ['String', 'Date', 'Ref']
        : ['Number', 'Date'];
    case 'now':
      return ['Date', 'String'];
    case 'list':
      return ['Array'];
    case 'object':
      return ['Object'];
    default:
      return undefined;
  }
};

/** Throws if a field of the collection cannot have the value, so that no write would ever succeed. */
export const requireFit = (
  { at, collection }: Pick<EffectScope, 'at' | 'collection'>,
  key: string,
  value: Expression,
): void => {
  const type = collection.schema?.find((field) => field.key === key)?.type;
  if (!type || (value.kind === 'literal' && value.value === null)) return;
  const isFit =
    value.kind === 'literal'
      ? isScalar(type) && scalarRules[type].fromJson(value.value) !== undefined
      : (typesOf(value)?.includes(type) ?? true);
  if (!isFit) throw invalidEffect(at, `must be ${withArticle(type)}, as the schema of "${collection.name}" says.`);
};
