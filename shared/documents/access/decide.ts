import { isDeepStrictEqual } from 'node:util';
import { ObjectId } from 'mongodb';
import { systemFields } from '../../collections/collection.ts';
import type { Operand, Outcome, RuleComparison, RuleNode } from '../../collections/rules/rule.ts';
import { isPosition } from '../../collections/schema/field-path.ts';
import type { FieldType } from '../../collections/schema/field-types.ts';
import type { JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';

/** The input for deciding a bound rule. */
interface Subject {
  /** A document, or an element of an array. */
  readonly document: unknown;
  /** The document before the write, in `update.after`. */
  readonly stored?: JsonObject;
  /** The caller's record with its defaults; `undefined` without a user. */
  readonly user: JsonObject | undefined;
  /** Receives the outcome of each comparison, in the order of the rule. */
  readonly trace?: (at: string, outcome: Outcome) => void;
}

/** The values at a path, as MongoDB compares them: an array and each of its elements. */
export const valuesAt = (value: unknown, path: string): readonly unknown[] => {
  if (path === '') return [value];
  const walk = (at: unknown, segments: readonly string[]): readonly unknown[] => {
    const [segment, ...rest] = segments;
    if (segment === undefined) return Array.isArray(at) ? [at, ...at] : [at];
    if (Array.isArray(at)) {
      const inner = at.filter(isJsonObject).flatMap((element) => walk(element, segments));
      return isPosition(segment) && Number(segment) < at.length
        ? [...walk(at[Number(segment)], rest), ...inner]
        : inner.length > 0
          ? inner
          : [undefined];
    }
    return isJsonObject(at) && Object.hasOwn(at, segment) ? walk(at[segment], rest) : [undefined];
  };
  return walk(value, path.split('.'));
};

/** The single value at a path that leads through no array. */
export const wholeAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, segment) => {
    if (Array.isArray(at)) return isPosition(segment) ? at[Number(segment)] : undefined;
    return isJsonObject(at) && Object.hasOwn(at, segment) ? at[segment] : undefined;
  }, value);

/**
 * The value at a path in a MongoDB expression: through an array, the values of its elements. MongoDB knows no positions
 * there; with `positions` they lead to one element.
 */
const expressionAt = (value: unknown, segments: readonly string[], positions = false): unknown => {
  const [segment, ...rest] = segments;
  if (segment === undefined) return value;
  if (Array.isArray(value)) {
    if (positions && isPosition(segment)) return expressionAt(value[Number(segment)], rest, true);
    const inner = value.filter((each) => Array.isArray(each) || isJsonObject(each));
    return inner.map((each) => expressionAt(each, segments, positions)).filter((each) => each !== undefined);
  }
  return isJsonObject(value) && Object.hasOwn(value, segment)
    ? expressionAt(value[segment], rest, positions)
    : undefined;
};

/** Whether there is an array at a path or on the way to it. */
const hasArray = (document: unknown, path: string): boolean => {
  let at: unknown = document;
  for (const segment of path.split('.')) {
    at = isJsonObject(at) && Object.hasOwn(at, segment) ? at[segment] : undefined;
    if (Array.isArray(at)) return true;
  }
  return false;
};

/** Both forms of a value in a field of a type. Ids are compared by value, also without a declared type. */
export const formsOf = (type: FieldType | undefined, value: unknown): readonly unknown[] => {
  const hex =
    value instanceof ObjectId
      ? value.toHexString()
      : typeof value === 'string' && /^[0-9a-f]{24}$/.test(value)
        ? value
        : undefined;
  if (hex === undefined) return [value];
  if (type === 'Ref') return [ObjectId.createFromHexString(hex)];
  return type === undefined ? [hex, ObjectId.createFromHexString(hex)] : [hex];
};

const plain = (value: unknown): unknown => {
  if (value instanceof ObjectId) return value.toHexString();
  if (Array.isArray(value)) return value.map(plain);
  return value;
};

/** Equality as in MongoDB: a missing value equals `null`. */
const areEqual = (one: unknown, other: unknown): boolean => {
  if (one === undefined || one === null) return other === undefined || other === null;
  if (one instanceof ObjectId || other instanceof ObjectId) {
    return one instanceof ObjectId && other instanceof ObjectId && one.equals(other);
  }
  if (typeof one === 'object' && typeof other === 'object') return isDeepStrictEqual(one, other);
  return one === other;
};

/** The order of two values of the same kind; `undefined` if they have none. */
const orderOf = (one: unknown, other: unknown): number | undefined => {
  if (typeof one === 'number' && typeof other === 'number')
    return Number.isNaN(one - other) ? undefined : Math.sign(one - other);
  if (typeof one === 'string' && typeof other === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other));
  if (typeof one === 'boolean' && typeof other === 'boolean') return Number(one) - Number(other);
  if (one instanceof Date && other instanceof Date) return Math.sign(one.getTime() - other.getTime());
  if (one instanceof ObjectId && other instanceof ObjectId) return Buffer.compare(one.id, other.id);
  return undefined;
};

const ranges: Readonly<Record<string, (order: number) => boolean>> = {
  $gt: (order) => order > 0,
  $gte: (order) => order >= 0,
  $lt: (order) => order < 0,
  $lte: (order) => order <= 0,
};

const texts: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  $contains: (text, part) => text.includes(part),
  $startsWith: (text, part) => text.startsWith(part),
  $endsWith: (text, part) => text.endsWith(part),
};

/** Whether a comparison holds for one of the values at the document's path. */
export const holds = (
  { operator, type }: Pick<RuleComparison, 'operator' | 'type'>,
  values: readonly unknown[],
  wanted: unknown,
): boolean => {
  const equalsAny = (all: readonly unknown[]) =>
    all.flatMap((each) => formsOf(type, each)).some((form) => values.some((value) => areEqual(value, form)));
  const range = ranges[operator];
  if (range) {
    const [form] = formsOf(type, wanted);
    return values.some((value) => {
      const order = orderOf(value, form);
      return order !== undefined && range(order);
    });
  }
  const text = texts[operator];
  if (text)
    return typeof wanted === 'string' && values.some((value) => typeof value === 'string' && text(value, wanted));
  switch (operator) {
    case '$eq':
      return equalsAny([wanted]);
    case '$ne':
      return !equalsAny([wanted]);
    case '$in':
      return equalsAny(wanted as readonly unknown[]);
    case '$nin':
      return !equalsAny(wanted as readonly unknown[]);
    case '$all': {
      const all = wanted as readonly unknown[];
      return all.length > 0 && all.every((each) => values.some((value) => areEqual(value, formsOf(type, each)[0])));
    }
    case '$exists':
      return values.some((value) => value !== undefined) === wanted;
    default:
      return values.some((value) => Array.isArray(value) && value.length === wanted);
  }
};

/** Compares two whole values, of the document or its stored version. */
const holdsWhole = ({ operator }: RuleComparison, value: unknown, other: unknown): boolean => {
  const [one, two] = [plain(value), plain(other)];
  const range = ranges[operator];
  if (range) {
    const order = orderOf(one, two);
    return order !== undefined && range(order);
  }
  const text = texts[operator];
  if (text) return typeof one === 'string' && typeof two === 'string' && text(one, two);
  switch (operator) {
    case '$ne':
      return !areEqual(one, two);
    case '$in':
    case '$nin': {
      const all = Array.isArray(two) ? two : [two];
      return all.some((each) => areEqual(one, each)) === (operator === '$in');
    }
    default:
      return areEqual(one, two);
  }
};

/** The value of `$stored`; `false` if `adds` names an element that is there, or `removes` one that is not. */
const storedValue = (operand: Extract<Operand, { kind: 'stored' }>, stored: JsonObject): unknown => {
  const value = expressionAt(stored, operand.path.split('.'), true);
  if (operand.plus !== undefined) {
    return value === undefined || value === null || typeof value === 'number' ? (value ?? 0) + operand.plus : false;
  }
  const change = operand.adds ?? operand.removes;
  if (!change) return value;
  const element = plain((change as { readonly value: unknown }).value);
  const list = value === undefined || value === null ? [] : value;
  if (!Array.isArray(list)) return false;
  const isThere = list.some((each) => areEqual(plain(each), element));
  if (isThere === Boolean(operand.adds)) return false;
  return operand.adds ? [...list, element] : list.filter((each) => !areEqual(plain(each), element));
};

const decideWhole = (node: RuleComparison, subject: Subject): Outcome => {
  const { operand } = node;
  const value = expressionAt(subject.document, node.path.split('.'), operand.kind === 'stored');
  if (operand.kind === 'doc') {
    const other = expressionAt(subject.document, operand.path.split('.'));
    if (other === undefined || other === null) return 'unknown';
    if (texts[node.operator] && other === '') return 'unknown';
    return holdsWhole(node, value, other);
  }
  if (operand.kind !== 'stored') throw new Error(`The operand ${operand.kind} of ${node.at} was not looked up`);
  if (!subject.stored) return 'unknown';
  const other = storedValue(operand, subject.stored);
  const isUnmet =
    other === false && (operand.plus !== undefined || operand.adds !== undefined || operand.removes !== undefined);
  return isUnmet ? false : holdsWhole(node, value, other);
};

const compare = (node: RuleComparison, subject: Subject, isUser: boolean): Outcome => {
  if (node.isStrict && hasArray(subject.document, node.path)) return 'unknown';
  if (node.operand.kind !== 'literal') return decideWhole(node, subject);
  const values = valuesAt(subject.document, node.path);
  // A value missing in the caller's record is unknown; one missing in a document is just missing.
  if (isUser && values.every((value) => value === undefined || value === null)) return 'unknown';
  return holds(node, values, node.operand.value);
};

/** The outcome of parts that must all hold. */
const together = (outcomes: readonly Outcome[]): Outcome => {
  if (outcomes.includes(false)) return false;
  return outcomes.includes('unknown') ? 'unknown' : true;
};

const negated = (outcome: Outcome): Outcome => (outcome === 'unknown' ? outcome : !outcome);

const elements = (node: Extract<RuleNode, { kind: 'elements' }>, subject: Subject, isUser: boolean): Outcome => {
  const array = wholeAt(subject.document, node.path);
  if (!Array.isArray(array)) return isUser && (array === undefined || array === null) ? 'unknown' : false;
  const { trace: _trace, ...silent } = subject;
  const outcomes = array.map((element) => decideNode(node.where, { ...silent, document: element }, false));
  return node.every ? together(outcomes) : negated(together(outcomes.map(negated)));
};

/** Whether only these top-level fields change. Fields that the service writes do not count. */
const changesOnly = (fields: readonly string[], document: JsonObject, stored: JsonObject): boolean =>
  [...new Set([...Object.keys(document), ...Object.keys(stored)])]
    .filter((field) => !fields.includes(field) && !systemFields.has(field))
    .every((field) => isDeepStrictEqual(plain(document[field]), plain(stored[field])));

const decideNode = (node: RuleNode, subject: Subject, isUser: boolean): Outcome => {
  const told = (at: string, outcome: Outcome): Outcome => {
    subject.trace?.(at, outcome);
    return outcome;
  };
  switch (node.kind) {
    case 'constant':
      return told(node.at, node.outcome);
    case 'all':
      return together(node.of.map((part) => decideNode(part, subject, isUser)));
    case 'any':
      return negated(together(node.of.map((part) => negated(decideNode(part, subject, isUser)))));
    case 'not':
      return negated(decideNode(node.of, subject, isUser));
    case 'compare':
      return told(node.at, compare(node, subject, isUser));
    case 'elements':
      return told(node.at, elements(node, subject, isUser));
    case 'user': {
      if (!subject.user) return told(node.at, 'unknown');
      if (node.where.kind === 'all' && node.where.of.length === 0) return told(node.at, true);
      return decideNode(node.where, { ...subject, document: subject.user }, true);
    }
    case 'stored':
      return subject.stored
        ? decideNode(node.where, { ...subject, document: subject.stored }, false)
        : told(node.at, 'unknown');
    case 'only':
      return told(node.at, changesOnly(node.fields, subject.document as JsonObject, subject.stored ?? {}));
    case 'ref':
    case 'joined':
      throw new Error(`The reference of ${node.at} was not looked up`);
  }
};

/** Decides a bound rule. */
export const decide = (rule: RuleNode, subject: Subject): Outcome => decideNode(rule, subject, false);
