import { isPlainObject } from '../../core/json.ts';
import type { Collection } from '../collection.ts';
import { isCollectionName, usersCollection } from '../names.ts';
import { typeAt } from '../schema/field-path.ts';
import { isScalar, scalarRules, withArticle } from '../schema/field-types.ts';
import { type ComparisonOperator, type Operand, operandOperators, type RuleNode } from './rule.ts';
import {
  below,
  count,
  declared,
  deeper,
  inFrom,
  invalidRls,
  inWrites,
  only,
  type RulePlace,
  type RuleScope,
  requireField,
  requireUserPath,
  requireWhole,
} from './rule-scope.ts';

const maxListed = 1000;

const literalOf = (scope: RuleScope, type: ReturnType<typeof declared>['type'], value: unknown): unknown => {
  if (typeof value === 'object' && value !== null) {
    throw invalidRls(scope.at, 'is a list or an object, which is no value here.');
  }
  if (value === null || type === undefined) return value;
  if (!isScalar(type)) throw invalidRls(scope.at, `compares ${withArticle(type)}, which cannot equal a single value.`);
  const stored = type === 'Date' && typeof value !== 'string' ? undefined : scalarRules[type].fromJson(value);
  if (stored === undefined) throw invalidRls(scope.at, `must be ${scalarRules[type].described}.`);
  return stored;
};

const parseDoc = (scope: RuleScope, path: unknown): Operand => {
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

const parseStored = (scope: RuleScope, value: Readonly<Record<string, unknown>>): Operand => {
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

type ParseCondition = (scope: RuleScope, value: unknown) => RuleNode;

const parseFrom = (scope: RuleScope, value: Readonly<Record<string, unknown>>, parseWhere: ParseCondition): Operand => {
  const { kind } = scope.place;
  if (inFrom.has(kind)) throw invalidRls(scope.at, 'cannot be used inside another $from.');
  count(scope, 'from');
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
  const place: RulePlace = { kind: inWrites.has(kind) ? 'fromOfWrite' : 'from', isStrict: false };
  const inner = { ...below(scope, 'where'), place, collection: target, prefix: '' };
  return { kind: 'from', collection: name, select, where: parseWhere(deeper(inner), where) };
};

/** Parses an operand such as `{ $user: 'team' }`. `parseWhere` parses the condition of a `$from`. */
export const parseOperand = (
  scope: RuleScope,
  operator: string,
  value: Readonly<Record<string, unknown>>,
  parseWhere: ParseCondition,
): Operand => {
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
      return parseFrom(scope, value, parseWhere);
    case '$now':
      only(scope, value, ['$now']);
      if (!Number.isSafeInteger(value.$now)) throw invalidRls(scope.at, 'takes whole milliseconds.');
      return { kind: 'now', ms: Number(value.$now) };
    default:
      throw invalidRls(scope.at, 'is not an operand: $user, $doc, $stored, $from and $now are.');
  }
};

export const parseLiteral = (
  scope: RuleScope,
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
