import type { Document as MongoDocument } from 'mongodb';
import type { RuleComparison, RuleNode } from '../../collections/rules/rule.ts';
import type { JsonObject } from '../document.ts';
import { allOf, anyOf, type Condition } from '../query/condition.ts';
import { together } from '../query/where.ts';
import { decide, formsOf } from './decide.ts';

/** A condition, or `true` or `false` if it does not depend on the document. */
type Filtered = Condition | boolean;

const all = (parts: readonly Filtered[]): Filtered => {
  if (parts.includes(false)) return false;
  const conditions = parts.filter((part) => typeof part !== 'boolean');
  return conditions.length === 0 ? true : allOf(conditions);
};

const any = (parts: readonly Filtered[]): Filtered => {
  if (parts.includes(true)) return true;
  const conditions = parts.filter((part) => typeof part !== 'boolean');
  return conditions.length === 0 ? false : anyOf(conditions);
};

/** A pattern that matches a text literally. */
const literally = (text: unknown): string =>
  String(text)
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replaceAll('\0', '\\x00');

const patterns: Readonly<Record<string, (text: unknown) => string>> = {
  $contains: literally,
  $startsWith: (text) => `^${literally(text)}`,
  // `$` would also match before a final line break.
  $endsWith: (text) => `${literally(text)}\\z`,
};

/** The MongoDB operators for a comparison with a value. */
const testOf = ({ operator, type }: RuleComparison, value: unknown): MongoDocument => {
  const pattern = patterns[operator];
  if (pattern) return { $regex: pattern(value) };
  switch (operator) {
    case '$eq':
    case '$ne': {
      const forms = formsOf(type, value);
      if (forms.length === 1) return { [operator]: forms[0] };
      return operator === '$eq' ? { $in: forms } : { $nin: forms };
    }
    case '$in':
    case '$nin':
      return { [operator]: (value as readonly unknown[]).flatMap((each) => formsOf(type, each)) };
    case '$all':
      return { [operator]: (value as readonly unknown[]).map((each) => formsOf(type, each)[0]) };
    case '$exists':
    case '$size':
      return { [operator]: value };
    default:
      return { [operator]: formsOf(type, value)[0] };
  }
};

/** No array at the path or on the way to it, so that a list of values cannot stand in for one. */
const withoutArrays = (path: string): readonly Condition[] => {
  const segments = path.split('.');
  return segments.map((_segment, at) => ({ [segments.slice(0, at + 1).join('.')]: { $not: { $type: 'array' } } }));
};

const asText = (type: RuleComparison['type'], field: string) => (type === 'Ref' ? { $toString: field } : field);

/** A comparison of two fields of a document, as an expression that never fails. */
const wholeTest = ({ operator, path, type }: RuleComparison, other: string): MongoDocument => {
  const [one, two] = [asText(type, `$${path}`), asText(undefined, `$${other}`)];
  const isId = { $eq: [{ $type: two }, 'objectId'] };
  const right = { $cond: [isId, { $toString: two }, two] };
  const left = { $cond: [{ $eq: [{ $type: one }, 'objectId'] }, { $toString: one }, one] };
  const sameKind = {
    $or: [{ $and: [{ $isNumber: left }, { $isNumber: right }] }, { $eq: [{ $type: left }, { $type: right }] }],
  };
  const bothTexts = { $and: [{ $eq: [{ $type: left }, 'string'] }, { $eq: [{ $type: right }, 'string'] }] };
  const found = { $indexOfBytes: [left, right] };
  switch (operator) {
    case '$eq':
    case '$ne':
      return { [operator]: [left, right] };
    case '$in':
    case '$nin': {
      const list = { $cond: [{ $isArray: right }, right, [right]] };
      return operator === '$in' ? { $in: [left, list] } : { $not: [{ $in: [left, list] }] };
    }
    case '$contains':
      return { $cond: [bothTexts, { $gte: [found, 0] }, false] };
    case '$startsWith':
      return { $cond: [bothTexts, { $eq: [found, 0] }, false] };
    case '$endsWith': {
      const from = { $subtract: [{ $strLenBytes: left }, { $strLenBytes: right }] };
      const ends = {
        $and: [{ $gte: [from, 0] }, { $gte: [{ $indexOfBytes: [left, right, { $max: [from, 0] }] }, 0] }],
      };
      return { $cond: [bothTexts, ends, false] };
    }
    default:
      // Only scalar values have an order.
      return {
        $and: [sameKind, { $not: [{ $in: [{ $type: left }, ['array', 'object']] }] }, { [operator]: [left, right] }],
      };
  }
};

const compared = (node: RuleComparison, wanted: boolean): Filtered => {
  const { operand, path } = node;
  if (operand.kind === 'doc') {
    const isText = node.operator in patterns;
    const isKnown = {
      $and: [{ $gt: [`$${operand.path}`, null] }, ...(isText ? [{ $ne: [`$${operand.path}`, ''] }] : [])],
    };
    const test = wholeTest(node, operand.path);
    return { $expr: { $and: [isKnown, wanted ? test : { $not: [test] }] } };
  }
  if (operand.kind !== 'literal') throw new Error(`The operand ${operand.kind} of ${node.at} was not looked up`);
  const test = testOf(node, operand.value);
  if (node.isStrict && wanted && !path.includes('.')) return { [path]: { ...test, $not: { $type: 'array' } } };
  const holds: Condition = wanted ? { [path]: test } : { $nor: [{ [path]: test }] };
  return node.isStrict ? allOf([holds, ...withoutArrays(path)]) : holds;
};

/** Comparisons of an element itself, which become sibling operators. */
const ownTests = (node: RuleNode): readonly RuleComparison[] | undefined => {
  const parts = node.kind === 'all' ? node.of : [node];
  const tests = parts.filter((part) => part.kind === 'compare').filter(({ path }) => path === '');
  return tests.length === parts.length ? tests : undefined;
};

/**
 * A rule without constants, for the documents for which it is true, or if `wanted` is `false`, false. What remains of
 * the operators of one element can be the argument of `$elemMatch`.
 */
const withoutConstants = (node: RuleNode, wanted: boolean): RuleNode => {
  if (node.kind !== 'all' && node.kind !== 'any') return node;
  const parts = node.of.map((part) => withoutConstants(part, wanted));
  const isWanted = (part: RuleNode) => part.kind === 'constant' && part.outcome === wanted;
  const isOther = (part: RuleNode) => part.kind === 'constant' && part.outcome !== wanted;
  const [decides, isNeutral] = (node.kind === 'all') === wanted ? [isOther, isWanted] : [isWanted, isOther];
  const [first, ...rest] = parts.filter((part) => !isNeutral(part));
  return (
    parts.find(decides) ?? (first && rest.length === 0 ? first : { ...node, of: first ? [first, ...rest] : parts })
  );
};

/** The argument of `$elemMatch`; `true` or `false` if it does not depend on the element. */
const elementTest = (node: RuleNode, user: JsonObject | undefined, wanted: boolean): MongoDocument | boolean => {
  const tests = ownTests(node);
  if (!tests) return filterOf(node, user, wanted);
  const joined = together(tests.map((test) => testOf(test, (test.operand as { readonly value: unknown }).value)));
  return wanted ? joined : { $not: joined };
};

/** Every element fulfils the condition if there is none that does not. An element for which it is unknown does not. */
const everyElement = (path: string, rule: RuleNode, user: JsonObject | undefined, wanted: boolean): Filtered => {
  const where = withoutConstants(rule, wanted);
  const isArray: Condition = { [path]: { $type: 'array' } };
  if (wanted) {
    const met = elementTest(where, user, true);
    if (met === true) return isArray;
    if (met === false) return { [path]: { $size: 0 } };
    return allOf([isArray, { [path]: { $not: { $elemMatch: ownTests(where) ? { $not: met } : { $nor: [met] } } } }]);
  }
  const unmet = elementTest(where, user, false);
  const noArray: Condition = { $nor: [isArray] };
  if (unmet === false) return noArray;
  return anyOf([noArray, unmet === true ? { [`${path}.0`]: { $exists: true } } : { [path]: { $elemMatch: unmet } }]);
};

const elements = (
  { path, every, where }: Extract<RuleNode, { kind: 'elements' }>,
  user: JsonObject | undefined,
  wanted: boolean,
): Filtered => {
  if (every) return everyElement(path, where, user, wanted);
  const test = elementTest(where, user, true);
  if (typeof test === 'boolean') throw new Error('A condition on elements has only values');
  const isFound: Condition = { [path]: { $elemMatch: test } };
  return wanted ? isFound : { $nor: [isFound] };
};

/**
 * The condition of the documents for which a bound rule is true, or if `wanted` is `false`, false. Documents for
 * which it is unknown match neither. `user` is the caller's record.
 */
export const filterOf = (rule: RuleNode, user: JsonObject | undefined, wanted = true): Filtered => {
  switch (rule.kind) {
    case 'constant':
      return rule.outcome === wanted;
    case 'all':
    case 'any': {
      const parts = rule.of.map((part) => filterOf(part, user, wanted));
      return (rule.kind === 'all') === wanted ? all(parts) : any(parts);
    }
    case 'not':
      return filterOf(rule.of, user, !wanted);
    case 'compare':
      return compared(rule, wanted);
    case 'elements':
      return elements(rule, user, wanted);
    case 'user':
      return decide(rule, { document: {}, user }) === wanted;
    case 'joined':
      return { [`${rule.as}.0`]: { $exists: wanted } };
    default:
      throw new Error(`${rule.kind} of ${rule.at} cannot be a condition of the database`);
  }
};
