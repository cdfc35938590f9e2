import { isPlainObject } from '../../core/json.ts';
import type { Collection } from '../collection.ts';
import { effectFields } from '../effects/effect.ts';
import { usersCollection } from '../names.ts';
import { isFieldPath, typeAt } from '../schema/field-path.ts';
import { ruleUserField } from '../schema/users.ts';
import { parseLiteral, parseOperand } from './parse-operand.ts';
import { comparisonOperators, type Operand, type RuleNode } from './rule.ts';
import {
  below,
  count,
  declared,
  deeper,
  inFrom,
  invalidRls,
  type RulePlace,
  type RuleScope,
  requireField,
  requireWhole,
  userIsList,
} from './rule-scope.ts';

const maxMembers = 50;

const texts: ReadonlySet<string> = new Set(['$contains', '$startsWith', '$endsWith']);

const parseTest = (scope: RuleScope, path: string, operator: string, value: unknown): RuleNode => {
  const { type, isList, field } =
    path === ''
      ? { ...declared(scope.collection, `${scope.prefix}0`), isList: false }
      : declared(scope.collection, scope.prefix + path);
  if (operator === '$elemMatch' || operator === '$every') {
    if (operator === '$every' && field?.type !== 'Array') throw invalidRls(scope.at, 'works on a declared Array only.');
    if (!isPlainObject(value) || Object.keys(value).length === 0)
      throw invalidRls(scope.at, 'takes a condition or operators.');
    const isEvery = operator === '$every';
    const place: RulePlace = isEvery ? { ...scope.place, isStrict: false } : { kind: 'literals', isStrict: false };
    const inner: RuleScope = { ...deeper(scope), place, prefix: `${scope.prefix}${path}.` };
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
  count(scope, 'comparisons');
  const operand: Operand = isPlainObject(value)
    ? parseOperand(scope, known, value, parseEntries)
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

const parseTests = (scope: RuleScope, path: string, value: Readonly<Record<string, unknown>>): RuleNode =>
  allOf(Object.entries(value).map(([operator, inner]) => parseTest(below(scope, operator), path, operator, inner)));

const operandKeys: ReadonlySet<string> = new Set(['$user', '$doc', '$stored', '$from', '$now']);

const parseField = (scope: RuleScope, path: string, value: unknown): RuleNode => {
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

const parseRef = (scope: RuleScope, value: unknown): RuleNode => {
  const { kind } = scope.place;
  if (kind !== 'read' && kind !== 'write' && kind !== 'after') throw invalidRls(scope.at, 'cannot be used here.');
  requireWhole(scope);
  if (!isPlainObject(value) || Object.keys(value).length === 0)
    throw invalidRls(scope.at, 'takes a Ref field and a condition.');
  return allOf(
    Object.entries(value).map(([path, where]) => {
      const at = below(scope, path);
      count(at, 'ref');
      const field = isFieldPath(path) ? typeAt(scope.collection, path) : undefined;
      if (field?.type !== 'Ref' || !field.ref) throw invalidRls(at.at, 'is not a Ref field of the schema.');
      const target = scope.known.get(field.ref);
      if (!target) throw invalidRls(at.at, `points into the collection "${field.ref}", which does not exist.`);
      const inner: RuleScope = { ...deeper(at), place: { kind: 'ref', isStrict: false }, collection: target };
      return { kind: 'ref', at: at.at, path, collection: field.ref, where: parseEntries(inner, where) } as const;
    }),
  );
};

const parseOnly = (scope: RuleScope, value: unknown): RuleNode => {
  if (scope.place.kind !== 'after') throw invalidRls(scope.at, 'can only be used in update.after.');
  requireWhole(scope);
  if (!Array.isArray(value) || !value.every((field) => typeof field === 'string' && !field.includes('.'))) {
    throw invalidRls(scope.at, 'takes a list of top-level fields.');
  }
  for (const field of value) requireField(scope, scope.collection, field);
  // What effects set does not count.
  return { kind: 'only', at: scope.at, fields: [...value, ...effectFields(scope.collection)] };
};

const parseMembers = (scope: RuleScope, value: unknown): readonly RuleNode[] => {
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

const parseUser = (scope: RuleScope, value: unknown): RuleNode => {
  if (scope.place.kind === 'literals') throw invalidRls(scope.at, 'cannot be used inside $elemMatch.');
  const collection = scope.known.get(usersCollection) ?? noUsers;
  const inner: RuleScope = { ...scope, place: { kind: 'user', isStrict: false }, collection, prefix: '' };
  const isAny = isPlainObject(value) && Object.keys(value).length === 0;
  return { kind: 'user', at: scope.at, where: isAny ? { kind: 'all', of: [] } : parseEntries(inner, value) };
};

const parseStoredKey = (scope: RuleScope, value: unknown): RuleNode => {
  if (scope.place.kind !== 'after') throw invalidRls(scope.at, 'can only be used in update.after.');
  requireWhole(scope);
  const inner: RuleScope = { ...deeper(scope), place: { kind: 'stored', isStrict: false } };
  return { kind: 'stored', at: scope.at, where: parseEntries(inner, value) };
};

const parseEntry = (scope: RuleScope, key: string, value: unknown): RuleNode => {
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

export const parseEntries = (scope: RuleScope, value: unknown): RuleNode => {
  if (!isPlainObject(value)) throw invalidRls(scope.at, 'must be a condition, as an object.');
  const entries = Object.entries(value);
  // A `$from` without a condition takes every document of its collection.
  if (entries.length === 0 && !inFrom.has(scope.place.kind))
    throw invalidRls(scope.at, 'is empty. Write true to allow everyone.');
  return allOf(entries.map(([key, inner]) => parseEntry(below(scope, key), key, inner)));
};
