import { AppError } from '../../core/errors.ts';
import { isPlainObject } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import { type Collection, isHiddenPath } from '../collection.ts';
import { effectFields } from '../effects/effect.ts';
import { isCollectionName, usersCollection } from '../names.ts';
import { isFieldPath, isUnknownPath, typeAt } from '../schema/field-path.ts';
import { rightsOf } from '../schema/field-rights.ts';
import { isScalar, scalarRules, withArticle } from '../schema/field-types.ts';
import { ruleRefField, ruleUserField } from '../schema/users.ts';
import {
  type ComparisonOperator,
  comparisonOperators,
  type Operand,
  operandOperators,
  type RuleNode,
  type Rules,
  type RulesInput,
} from './rule.ts';

const maxBytes = 8 * 1024;
const maxLevels = 8;
const maxMembers = 50;
const maxComparisons = 100;
const maxLookups = 3;
const maxListed = 1000;

interface Place {
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

interface Scope {
  readonly place: Place;
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

const below = (scope: Scope, key: string | number): Scope => ({ ...scope, at: `${scope.at}.${key}` });

const deeper = (scope: Scope): Scope => {
  if (scope.level < maxLevels) return { ...scope, level: scope.level + 1 };
  throw invalidRls(scope.at, `is nested more than ${maxLevels} levels deep.`);
};

const count = ({ tally, at }: Scope, what: keyof Scope['tally'], most: number): void => {
  tally[what] += 1;
  if (tally[what] <= most) return;
  const named = what === 'comparisons' ? 'comparisons' : `$${what}`;
  throw invalidRls(at, `is one too many: a rule may contain at most ${most} ${named}.`);
};

/** The declared type at a path, and whether an Array is on the way. */
const declared = (collection: Collection, path: string) => {
  const segments = path.split('.');
  const isList = segments.some((_segment, at) => {
    const head = segments.slice(0, at + 1).join('.');
    return typeAt(collection, head)?.type === 'Array' && !/^\d+$/.test(segments[at + 1] ?? '');
  });
  const found = typeAt(collection, path);
  return { isList, type: found?.type === 'Array' ? found.items?.type : found?.type, field: found };
};

const unfiltered: ReadonlySet<string> = new Set(['isDeleted', 'deletedAt']);

const requireField = (scope: Scope, collection: Collection, path: string, isOther = false): void => {
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
    throw invalidRls(scope.at, `names a field that "${collection.name}" does not have.`);
  }
};

const requireUserPath = (scope: Scope, path: unknown): string => {
  if (typeof path !== 'string') throw invalidRls(scope.at, 'must name a field of the user, as a text.');
  const reason = ruleUserField(scope.known.get(usersCollection), path);
  if (reason) throw invalidRls(scope.at, reason);
  return path;
};

const userIsList = (scope: Scope, path: string): boolean => {
  const users = scope.known.get(usersCollection);
  return users !== undefined && declared(users, path).isList;
};

const literalOf = (scope: Scope, type: ReturnType<typeof declared>['type'], value: unknown): unknown => {
  if (typeof value === 'object' && value !== null) {
    throw invalidRls(scope.at, 'is a list or an object, which is no value here.');
  }
  if (value === null || type === undefined) return value;
  if (!isScalar(type)) throw invalidRls(scope.at, `compares ${withArticle(type)}, which equals no single value.`);
  const stored = type === 'Date' && typeof value !== 'string' ? undefined : scalarRules[type].fromJson(value);
  if (stored === undefined) throw invalidRls(scope.at, `must be ${scalarRules[type].described}.`);
  return stored;
};

const only = (scope: Scope, value: Readonly<Record<string, unknown>>, allowed: readonly string[]): void => {
  const other = Object.keys(value).find((key) => !allowed.includes(key));
  if (other !== undefined)
    throw invalidRls(below(scope, other).at, `is not known here; ${allowed.join(', ')} may be used here.`);
};

const inWrites: ReadonlySet<Place['kind']> = new Set(['write', 'after', 'fromOfWrite']);
const inFrom: ReadonlySet<Place['kind']> = new Set(['from', 'fromOfWrite']);

/** Throws inside `$every`, where the condition applies to one element. */
const requireWhole = ({ prefix, at }: Scope): void => {
  if (prefix !== '') throw invalidRls(at, 'is about the whole document, so it cannot be used inside $every.');
};

const parseDoc = (scope: Scope, path: unknown): Operand => {
  const { kind } = scope.place;
  requireWhole(scope);
  const isAllowed = kind === 'read' || inWrites.has(kind);
  if (!isAllowed || typeof path !== 'string') {
    throw invalidRls(
      scope.at,
      typeof path === 'string' ? 'cannot be used here.' : 'must name a field of the document.',
    );
  }
  const subject = scope.own;
  const hop = refOnTheWay(subject, path);
  if (!hop) {
    requireField(scope, subject, path);
    return { kind: 'doc', path };
  }
  if (kind === 'read') throw invalidRls(scope.at, 'reads through a Ref, which read rules cannot. Use $ref.');
  const target = scope.known.get(hop.collection);
  if (!target) throw invalidRls(scope.at, `reads the collection "${hop.collection}", which does not exist.`);
  requireField(scope, target, hop.rest, true);
  return { kind: 'doc', path: hop.rest, ref: { path: hop.path, collection: hop.collection } };
};

const refOnTheWay = (collection: Collection, path: string) => {
  const segments = path.split('.');
  for (let at = 1; at < segments.length; at += 1) {
    const head = segments.slice(0, at).join('.');
    const found = typeAt(collection, head);
    if (found?.type === 'Ref' && found.ref)
      return { path: head, collection: found.ref, rest: segments.slice(at).join('.') };
  }
  return undefined;
};

const parseStored = (scope: Scope, value: Readonly<Record<string, unknown>>): Operand => {
  if (scope.place.kind !== 'after') throw invalidRls(scope.at, 'can only be used in update.after.');
  requireWhole(scope);
  only(scope, value, ['$stored', 'plus', 'adds', 'removes']);
  const { $stored: path, plus, adds, removes } = value;
  if (typeof path !== 'string') throw invalidRls(scope.at, 'must name a field, as a text.');
  requireField(scope, scope.collection, path);
  if ([plus, adds, removes].filter((each) => each !== undefined).length > 1) {
    throw invalidRls(scope.at, 'takes one of plus, adds and removes.');
  }
  if (plus !== undefined && typeof plus !== 'number') throw invalidRls(below(scope, 'plus').at, 'must be a number.');
  const { type } = declared(scope.collection, path);
  const element = (key: string, given: unknown): Operand =>
    isPlainObject(given)
      ? { kind: 'user', path: requireUserPath(below(scope, key), given.$user) }
      : { kind: 'literal', value: literalOf(below(scope, key), type, given) };
  return {
    kind: 'stored',
    path,
    ...(plus !== undefined && { plus }),
    ...(adds !== undefined && { adds: element('adds', adds) }),
    ...(removes !== undefined && { removes: element('removes', removes) }),
  };
};

const parseFrom = (scope: Scope, value: Readonly<Record<string, unknown>>): Operand => {
  const { kind } = scope.place;
  if (inFrom.has(kind)) throw invalidRls(scope.at, 'cannot be used inside another $from.');
  count(scope, 'from', maxLookups);
  only(scope, value, ['$from', 'select', 'where']);
  const { $from: name, select, where = {} } = value;
  if (typeof name !== 'string' || name === usersCollection || !isCollectionName(name)) {
    throw invalidRls(below(scope, '$from').at, 'must name a collection other than users.');
  }
  const target = scope.known.get(name);
  if (!target) throw invalidRls(below(scope, '$from').at, `names the collection "${name}", which does not exist.`);
  const at = below(scope, 'select');
  if (typeof select !== 'string') throw invalidRls(at.at, 'must name a field of that collection, or _id.');
  requireField(at, target, select);
  const place: Place = { kind: inWrites.has(kind) ? 'fromOfWrite' : 'from', isStrict: false };
  const inner = { ...below(scope, 'where'), place, collection: target, prefix: '' };
  return { kind: 'from', collection: name, select, where: parseEntries(deeper(inner), where) };
};

const parseOperand = (scope: Scope, operator: string, value: Readonly<Record<string, unknown>>): Operand => {
  const [key = ''] = Object.keys(value);
  if (!operandOperators.has(operator)) throw invalidRls(scope.at, 'takes no operand, only a value.');
  if (scope.place.kind === 'literals') throw invalidRls(scope.at, 'cannot be an operand inside $elemMatch.');
  const isListed = operator === '$in' || operator === '$nin';
  switch (key) {
    case '$user': {
      only(scope, value, ['$user']);
      return { kind: 'user', path: requireUserPath(scope, value.$user) };
    }
    case '$doc':
      only(scope, value, ['$doc']);
      return parseDoc(scope, value.$doc);
    case '$stored':
      return parseStored(scope, value);
    case '$from':
      if (!isListed) throw invalidRls(scope.at, 'can only follow $in and $nin.');
      return parseFrom(scope, value);
    case '$now':
      only(scope, value, ['$now']);
      if (!Number.isSafeInteger(value.$now)) throw invalidRls(scope.at, 'takes whole milliseconds.');
      return { kind: 'now', ms: Number(value.$now) };
    default:
      throw invalidRls(scope.at, 'is not an operand: $user, $doc, $stored, $from and $now are.');
  }
};

const parseLiteral = (
  scope: Scope,
  operator: ComparisonOperator,
  type: ReturnType<typeof declared>['type'],
  value: unknown,
) => {
  switch (operator) {
    case '$exists':
      if (typeof value !== 'boolean') throw invalidRls(scope.at, 'takes only true or false.');
      return value;
    case '$size':
      if (!Number.isSafeInteger(value) || Number(value) < 0) throw invalidRls(scope.at, 'takes a whole number.');
      return value;
    case '$in':
    case '$nin':
    case '$all':
      if (!Array.isArray(value) || value.length > maxListed) {
        throw invalidRls(scope.at, `takes a list of at most ${maxListed} values.`);
      }
      return value.map((element, index) => literalOf(below(scope, index), type, element));
    case '$contains':
    case '$startsWith':
    case '$endsWith':
      if (typeof value !== 'string' || value === '') throw invalidRls(scope.at, 'takes a text.');
      return value;
    default:
      if (value === null && operator !== '$eq' && operator !== '$ne') throw invalidRls(scope.at, 'cannot be null.');
      return literalOf(scope, type, value);
  }
};

const texts: ReadonlySet<string> = new Set(['$contains', '$startsWith', '$endsWith']);

const parseTest = (scope: Scope, path: string, operator: string, value: unknown): RuleNode => {
  const { type, isList, field } =
    path === ''
      ? { ...declared(scope.collection, `${scope.prefix}0`), isList: false }
      : declared(scope.collection, scope.prefix + path);
  if (operator === '$elemMatch' || operator === '$every') {
    if (operator === '$every' && field?.type !== 'Array') throw invalidRls(scope.at, 'works on a declared Array only.');
    if (!isPlainObject(value) || Object.keys(value).length === 0)
      throw invalidRls(scope.at, 'takes a condition or operators.');
    const isEvery = operator === '$every';
    const place: Place = isEvery ? { ...scope.place, isStrict: false } : { kind: 'literals', isStrict: false };
    const inner: Scope = { ...deeper(scope), place, prefix: `${scope.prefix}${path}.` };
    const [first = ''] = Object.keys(value);
    const isTests = comparisonOperators.some((known) => known === first);
    const where = isTests ? parseTests(inner, '', value) : parseEntries(inner, value);
    return { kind: 'elements', at: scope.at, path, every: isEvery, where };
  }
  const known = comparisonOperators.find((each) => each === operator);
  if (operator === '$regex') throw invalidRls(scope.at, 'is not allowed in rules.');
  if (!known)
    throw invalidRls(scope.at, `is not an operator. A field takes ${comparisonOperators.join(' ')} $elemMatch $every.`);
  if (texts.has(known) && type !== undefined && type !== 'String') throw invalidRls(scope.at, 'works on texts only.');
  count(scope, 'comparisons', maxComparisons);
  const operand: Operand = isPlainObject(value)
    ? parseOperand(scope, known, value)
    : { kind: 'literal', value: parseLiteral(scope, known, type, value) };
  if (operand.kind === 'user' && userIsList(scope, operand.path) && known !== '$in' && known !== '$nin') {
    if (!isList || (known !== '$eq' && known !== '$ne')) {
      throw invalidRls(scope.at, 'compares with a list of the user. Use $in or $nin, or compare a declared Array.');
    }
  }
  if (operand.kind === 'now' && type !== undefined && type !== 'Date')
    throw invalidRls(scope.at, 'works on a Date only.');
  return {
    kind: 'compare',
    at: scope.at,
    path,
    type,
    isList,
    isStrict: scope.place.isStrict && !isList,
    operator: known,
    operand,
  };
};

const allOf = (nodes: readonly RuleNode[]): RuleNode => {
  const [first] = nodes;
  return first && nodes.length === 1 ? first : { kind: 'all', of: nodes };
};

const parseTests = (scope: Scope, path: string, value: Readonly<Record<string, unknown>>): RuleNode =>
  allOf(Object.entries(value).map(([operator, inner]) => parseTest(below(scope, operator), path, operator, inner)));

const operandKeys: ReadonlySet<string> = new Set(['$user', '$doc', '$stored', '$from', '$now']);

const parseField = (scope: Scope, path: string, value: unknown): RuleNode => {
  if (scope.place.kind === 'user') {
    const reason = ruleUserField(scope.known.get(usersCollection), path);
    if (reason) throw invalidRls(scope.at, reason);
  } else requireField(scope, scope.collection, scope.prefix + path, scope.place.kind === 'ref');
  if (!isPlainObject(value)) return parseTest(scope, path, '$eq', value);
  const [first] = Object.keys(value);
  if (first === undefined || !first.startsWith('$')) {
    throw invalidRls(scope.at, 'compares with an object. Compare single fields of it, by dotted paths.');
  }
  return operandKeys.has(first) ? parseTest(scope, path, '$eq', value) : parseTests(scope, path, value);
};

const parseRef = (scope: Scope, value: unknown): RuleNode => {
  const { kind } = scope.place;
  if (kind !== 'read' && kind !== 'write' && kind !== 'after') throw invalidRls(scope.at, 'cannot be used here.');
  requireWhole(scope);
  if (!isPlainObject(value) || Object.keys(value).length === 0)
    throw invalidRls(scope.at, 'takes a Ref field and a condition.');
  return allOf(
    Object.entries(value).map(([path, where]) => {
      const at = below(scope, path);
      count(at, 'ref', maxLookups);
      const field = isFieldPath(path) ? typeAt(scope.collection, path) : undefined;
      if (field?.type !== 'Ref' || !field.ref) throw invalidRls(at.at, 'is not a Ref field of the schema.');
      const target = scope.known.get(field.ref);
      if (!target) throw invalidRls(at.at, `points into the collection "${field.ref}", which does not exist.`);
      const inner: Scope = { ...deeper(at), place: { kind: 'ref', isStrict: false }, collection: target };
      return { kind: 'ref', at: at.at, path, collection: field.ref, where: parseEntries(inner, where) } as const;
    }),
  );
};

const parseOnly = (scope: Scope, value: unknown): RuleNode => {
  if (scope.place.kind !== 'after') throw invalidRls(scope.at, 'can only be used in update.after.');
  requireWhole(scope);
  if (!Array.isArray(value) || !value.every((field) => typeof field === 'string' && !field.includes('.'))) {
    throw invalidRls(scope.at, 'takes a list of top-level fields.');
  }
  for (const field of value) requireField(scope, scope.collection, field);
  // What effects set does not count.
  return { kind: 'only', at: scope.at, fields: [...value, ...effectFields(scope.collection)] };
};

const parseMembers = (scope: Scope, value: unknown): readonly RuleNode[] => {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxMembers) {
    throw invalidRls(scope.at, `takes a list of 1 to ${maxMembers} conditions.`);
  }
  return value.map((member, index) => parseEntries(below(scope, index), member));
};

const noUsers: Collection = {
  name: usersCollection,
  schema: [],
  rls: { enabled: false, mode: 'public-read', ownerField: 'userId', trash: 'everyone', requires: 'none' },
};

const parseUser = (scope: Scope, value: unknown): RuleNode => {
  if (scope.place.kind === 'literals') throw invalidRls(scope.at, 'cannot be used inside $elemMatch.');
  const collection = scope.known.get(usersCollection) ?? noUsers;
  const inner: Scope = { ...scope, place: { kind: 'user', isStrict: false }, collection, prefix: '' };
  const isAny = isPlainObject(value) && Object.keys(value).length === 0;
  return { kind: 'user', at: scope.at, where: isAny ? { kind: 'all', of: [] } : parseEntries(inner, value) };
};

const parseStoredKey = (scope: Scope, value: unknown): RuleNode => {
  if (scope.place.kind !== 'after') throw invalidRls(scope.at, 'can only be used in update.after.');
  requireWhole(scope);
  const inner: Scope = { ...deeper(scope), place: { kind: 'stored', isStrict: false } };
  return { kind: 'stored', at: scope.at, where: parseEntries(inner, value) };
};

const parseEntry = (scope: Scope, key: string, value: unknown): RuleNode => {
  switch (key) {
    case '$and':
      return { kind: 'all', of: parseMembers(deeper(scope), value) };
    case '$or':
      return { kind: 'any', of: parseMembers(deeper(scope), value) };
    case '$not':
      return { kind: 'not', of: parseEntries(deeper(scope), value) };
    case '$user':
      return parseUser(scope, value);
    case '$ref':
      return parseRef(scope, value);
    case '$stored':
      return parseStoredKey(scope, value);
    case '$only':
      return parseOnly(scope, value);
    default:
      if (!key.startsWith('$')) return parseField(scope, key, value);
      throw invalidRls(
        scope.at,
        'is not known. $and, $or, $not, $user, $ref, $stored, $only and fields can be used here.',
      );
  }
};

const parseEntries = (scope: Scope, value: unknown): RuleNode => {
  if (!isPlainObject(value)) throw invalidRls(scope.at, 'must be a condition, as an object.');
  const entries = Object.entries(value);
  // A `$from` without a condition takes every document of its collection.
  if (entries.length === 0 && !inFrom.has(scope.place.kind))
    throw invalidRls(scope.at, 'is empty. Write true to allow everyone.');
  return allOf(entries.map(([key, inner]) => parseEntry(below(scope, key), key, inner)));
};

type ReadRule = (at: string, value: unknown, fallback: boolean, place: Place) => RuleNode;

const ruleReader =
  (collection: Collection, known: ReadonlyMap<string, Collection>): ReadRule =>
  (at, value, fallback, place) => {
    if (value === undefined) return { kind: 'constant', at, outcome: fallback };
    if (typeof value === 'boolean') return { kind: 'constant', at, outcome: value };
    const tally = { comparisons: 0, from: 0, ref: 0 };
    return parseEntries({ place, collection, own: collection, known, at, prefix: '', level: 1, tally }, value);
  };

export type UpdateRules = Pick<Rules, 'before' | 'after'>;

const updateRules = (rule: ReadRule, path: string, value: unknown): UpdateRules => {
  const [before, after] = halvesOf(path, value, ['before', 'after']);
  const isSplit = value !== undefined && isHalves(value, ['before', 'after']);
  return {
    before: rule(before.at, before.value, isSplit, { kind: 'write', isStrict: false }),
    after: rule(after.at, after.value, isSplit, { kind: isSplit ? 'after' : 'write', isStrict: true }),
  };
};

/** Parses a condition of an effect, which reads the document like a rule about a write. */
export const parseEffectCondition = (
  collection: Collection,
  known: ReadonlyMap<string, Collection>,
  at: string,
  value: unknown,
  kind: 'write' | 'after',
): RuleNode => ruleReader(collection, known)(at, value, true, { kind, isStrict: true });

/** Throws unless the condition only concerns the caller. */
const requireUserOnly = (at: string, value: unknown, what = 'a field'): void => {
  if (!isPlainObject(value)) throw invalidRls(at, 'must be a condition about the caller ("$user").');
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$user') continue;
    if (key === '$not') requireUserOnly(`${at}.${key}`, inner, what);
    else if ((key === '$and' || key === '$or') && Array.isArray(inner))
      inner.forEach((member, index) => {
        requireUserOnly(`${at}.${key}.${index}`, member, what);
      });
    else if (key !== '$and' && key !== '$or')
      throw invalidRls(`${at}.${key}`, `cannot decide who reads ${what}: only "$user", $and, $or and $not can.`);
  }
};

/** Parses `true`, `false` or a condition about the caller. `at` begins the paths of errors. */
export const parseCallerRule = (
  { at, what }: { readonly at: string; readonly what: string },
  users: Collection,
  known: ReadonlyMap<string, Collection>,
  value: unknown,
): RuleNode => {
  if (typeof value !== 'boolean') requireUserOnly(at, value, what);
  if (Buffer.byteLength(JSON.stringify(value)) > maxBytes) {
    throw invalidRls(at, `must have at most ${maxBytes / 1024} KiB of JSON.`);
  }
  return ruleReader(users, known)(at, value, false, { kind: 'read', isStrict: false });
};

export interface FieldRules {
  readonly write: ReadonlyMap<string, UpdateRules>;
  readonly read: ReadonlyMap<string, RuleNode>;
}

/** Parses the rules of fields; `schema.<field>.write` in errors. */
export const parseFieldRules = (collection: Collection, known: ReadonlyMap<string, Collection>): FieldRules => {
  const rule = ruleReader(collection, known);
  const { written, read } = rightsOf(collection);
  const writes = written.flatMap(({ path, write }) =>
    typeof write === 'object' ? [[path, updateRules(rule, `schema.${path}.write`, write)] as const] : [],
  );
  const reads = read.flatMap((right) => {
    if (typeof right.read !== 'object') return [];
    const at = `schema.${right.path}.read`;
    requireUserOnly(at, right.read);
    return [[right.path, rule(at, right.read, false, { kind: 'read', isStrict: false })] as const];
  });
  return { write: new Map(writes), read: new Map(reads) };
};

const members = ['read', 'create', 'update', 'delete', 'readTrash', 'recover', 'purge'] as const;

/**
 * Parses `rls.rules` and fills in defaults. `known`: all collections of the project by name. Throws 400 `INVALID_RLS`
 * with the path.
 */
export const parseRules = (
  collection: Collection,
  known: ReadonlyMap<string, Collection>,
  input: RulesInput | null | undefined,
): Rules => {
  const given: Readonly<Record<string, unknown>> = isPlainObject(input ?? {}) ? { ...input } : {};
  if (input != null && !isPlainObject(input)) throw invalidRls('rules', 'must be an object.');
  const other = Object.keys(given).find((key) => !members.some((member) => member === key));
  if (other !== undefined) throw invalidRls(`rules.${other}`, `is not known. Rules are ${members.join(', ')}.`);
  if (Buffer.byteLength(JSON.stringify(given)) > maxBytes) {
    throw invalidRls('rules', `must have at most ${maxBytes / 1024} KiB of JSON.`);
  }
  const rule = ruleReader(collection, known);
  const read: Place = { kind: 'read', isStrict: false };
  const write: Place = { kind: 'write', isStrict: false };
  const [get, list] = halvesOf('rules.read', given.read, ['get', 'list']);
  const { before: stored, after } = updateRules(rule, 'rules.update', given.update);
  return {
    get: rule(get.at, get.value, false, read),
    list: rule(list.at, list.value, false, read),
    create: rule('rules.create', given.create, false, { kind: 'write', isStrict: true }),
    before: stored,
    after,
    delete: rule('rules.delete', given.delete, false, write),
    readTrash: rule('rules.readTrash', given.readTrash, true, read),
    recover: given.recover === undefined ? stored : rule('rules.recover', given.recover, false, write),
    purge: rule('rules.purge', given.purge, true, write),
  };
};

const isHalves = (value: unknown, names: readonly [string, string]): value is Readonly<Record<string, unknown>> => {
  if (!isPlainObject(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => names.includes(key));
};

const halvesOf = (at: string, value: unknown, names: readonly [string, string]) =>
  names.map((name) => (isHalves(value, names) ? { at: `${at}.${name}`, value: value[name] } : { at, value })) as [
    Half,
    Half,
  ];

interface Half {
  readonly at: string;
  readonly value: unknown;
}

/**
 * The fixed modes as rules. For speed, `access.ts` decides them without the engine; a test compares both.
 * The owner is compared as in `create`: an array that contains the id owns nothing.
 */
export const fixedRules = (collection: Collection): Rules => {
  const { mode, ownerField } = collection.rls;
  const yes: RuleNode = { kind: 'constant', at: 'rules', outcome: true };
  const owner: RuleNode = {
    ...{
      kind: 'compare',
      at: 'rules',
      path: ownerField,
      type: typeAt(collection, ownerField)?.type,
      isList: false,
      isStrict: true,
      operator: '$eq',
    },
    operand: { kind: 'user', path: '_id' },
  };
  const signedIn: RuleNode = { kind: 'user', at: 'rules', where: { kind: 'all', of: [] } };
  const read = mode === 'private' ? owner : mode === 'signed-in' ? signedIn : yes;
  return {
    get: read,
    list: read,
    create: signedIn,
    before: owner,
    after: yes,
    delete: owner,
    readTrash: yes,
    recover: owner,
    purge: yes,
  };
};
