import { type Document, ObjectId } from 'mongodb';

/*
 * Evaluates the filters that rules become, as MongoDB does. `rules-oracle` compares it with a server, so that unit tests
 * can use it instead of one.
 */

const isRecord = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** The order of BSON's types. */
const kindOf = (value: unknown): string => {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (typeof value === 'number') return 'double';
  if (typeof value === 'boolean') return 'bool';
  if (value instanceof ObjectId) return 'objectId';
  if (value instanceof Date) return 'date';
  return Array.isArray(value) ? 'array' : typeof value;
};

const kinds = ['missing', 'null', 'double', 'string', 'object', 'array', 'objectId', 'bool', 'date'];

/** Texts of the same order as the values of one kind, or their numbers. */
const compareAlike = (one: unknown, other: unknown): number => {
  if (typeof one === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(String(other)));
  if (one instanceof ObjectId) return Buffer.compare(one.id, (other as ObjectId).id);
  if (one === undefined || one === null) return 0;
  if (typeof one !== 'object' || one instanceof Date) return Math.sign(Number(one) - Number(other));
  const [left, right] = [Object.entries(one).flat(), Object.entries(other as object).flat()];
  for (const [at, value] of left.entries()) {
    const order = at < right.length ? compare(value, right[at]) : 1;
    if (order !== 0) return order;
  }
  return Math.sign(left.length - right.length);
};

const compare = (one: unknown, other: unknown): number =>
  kindOf(one) === kindOf(other) ? compareAlike(one, other) : kinds.indexOf(kindOf(one)) - kinds.indexOf(kindOf(other));

/** The values at a path. Arrays on the way are followed, the last one is not. */
const leaves = (value: unknown, [key, ...rest]: readonly string[]): readonly unknown[] => {
  if (key === undefined) return [value];
  if (Array.isArray(value)) {
    const inner = value.filter(isRecord).flatMap((element) => leaves(element, [key, ...rest]));
    const own = /^\d+$/.test(key) && Number(key) < value.length ? leaves(value[Number(key)], rest) : [];
    return [...own, ...inner];
  }
  return isRecord(value) && Object.hasOwn(value, key) ? leaves(value[key], rest) : [undefined];
};

const isOperators = (value: unknown): value is Document =>
  isRecord(value) && /^\$(?!and$|or$|nor$|expr$)/.test(Object.keys(value)[0] ?? '');

const equals = (value: unknown, wanted: unknown): boolean => compare(value ?? null, wanted ?? null) === 0;
const ordered = (value: unknown, wanted: unknown): boolean => kindOf(value) === kindOf(wanted);

type Values = readonly unknown[];

/** Each operator: for the values of a path with the elements of arrays (`each`), and without (`found`). */
const operators: Readonly<Record<string, (wanted: unknown, each: Values, found: Values) => boolean>> = {
  $eq: (wanted, each) => each.some((value) => equals(value, wanted)) || (each.length === 0 && wanted === null),
  $ne: (wanted, each, found) => !operators.$eq?.(wanted, each, found),
  $gt: (wanted, each) => each.some((value) => ordered(value, wanted) && compare(value, wanted) > 0),
  $gte: (wanted, each) => each.some((value) => ordered(value, wanted) && compare(value, wanted) >= 0),
  $lt: (wanted, each) => each.some((value) => ordered(value, wanted) && compare(value, wanted) < 0),
  $lte: (wanted, each) => each.some((value) => ordered(value, wanted) && compare(value, wanted) <= 0),
  $in: (wanted, each, found) => (wanted as Values).some((one) => operators.$eq?.(one, each, found)),
  $nin: (wanted, each, found) => !operators.$in?.(wanted, each, found),
  $all: (wanted, each) => {
    const all = wanted as Values;
    return all.length > 0 && all.every((one) => each.some((value) => equals(value, one)));
  },
  $exists: (wanted, _each, found) => found.some((value) => value !== undefined) === wanted,
  $size: (wanted, _each, found) => found.some((value) => Array.isArray(value) && value.length === wanted),
  $type: (wanted, _each, found) => found.some((value) => kindOf(value) === wanted),
  $regex: (wanted, each) => {
    const pattern = new RegExp(String(wanted).replace(/\\z$/, '(?![^])'), 'u');
    return each.some((value) => typeof value === 'string' && pattern.test(value));
  },
  $not: (wanted, each, found) => !holdsAll(wanted as Document, each, found),
  $elemMatch: (wanted, _each, found) =>
    found.some(
      (value) =>
        Array.isArray(value) &&
        value.some((element) =>
          isOperators(wanted)
            ? holdsAll(wanted, [element], [element])
            : isRecord(element) && matches(element, wanted as Document),
        ),
    ),
};

const holdsAll = (tests: Document, each: Values, found: Values): boolean =>
  Object.entries(tests).every(([name, wanted]) => {
    const operator = operators[name];
    if (!operator) throw new Error(`The fake database has no operator ${name}`);
    return operator(wanted, each, found);
  });

const bytesOf = (text: unknown): Buffer => {
  if (typeof text !== 'string') throw new Error('MongoDB would fail: not a text');
  return Buffer.from(text);
};

type Expressions = readonly [unknown, unknown, unknown];
const isTrue = (value: unknown): boolean => value !== undefined && value !== null && value !== false && value !== 0;

/** Expressions of which some arguments must not be evaluated. */
const lazy: Readonly<Record<string, (document: unknown, given: Expressions) => unknown>> = {
  $and: (document, given) => given.every((one) => isTrue(evaluate(document, one))),
  $or: (document, given) => given.some((one) => isTrue(evaluate(document, one))),
  $cond: (document, [condition, yes, no]) => evaluate(document, isTrue(evaluate(document, condition)) ? yes : no),
};

const eager: Readonly<Record<string, (given: Expressions) => unknown>> = {
  $not: ([one]) => !isTrue(one),
  $eq: ([one, other]) => compare(one, other) === 0,
  $ne: ([one, other]) => compare(one, other) !== 0,
  $gt: ([one, other]) => compare(one, other) > 0,
  $gte: ([one, other]) => compare(one, other) >= 0,
  $lt: ([one, other]) => compare(one, other) < 0,
  $lte: ([one, other]) => compare(one, other) <= 0,
  $in: ([one, list]) => (list as Values).some((each) => compare(each, one) === 0),
  $type: ([one]) => kindOf(one),
  $isNumber: ([one]) => typeof one === 'number',
  $isArray: ([one]) => Array.isArray(one),
  $toString: ([one]) => (one instanceof ObjectId ? one.toHexString() : (one ?? null)),
  $subtract: ([one, other]) => Number(one) - Number(other),
  $max: (given) => given.toSorted(compare).at(-1),
  $strLenBytes: ([one]) => bytesOf(one).length,
  $indexOfBytes: ([text, part, from]) => bytesOf(text).indexOf(bytesOf(part), Number(from ?? 0)),
};

/** The value of a field in an expression: through an array, the values of its elements. */
const fieldOf = (value: unknown, [key, ...rest]: readonly string[]): unknown => {
  if (key === undefined) return value;
  if (Array.isArray(value)) return value.map((one) => fieldOf(one, [key, ...rest])).filter((one) => one !== undefined);
  return isRecord(value) && Object.hasOwn(value, key) ? fieldOf(value[key], rest) : undefined;
};

const evaluate = (document: unknown, expression: unknown): unknown => {
  if (typeof expression === 'string' && expression.startsWith('$'))
    return fieldOf(document, expression.slice(1).split('.'));
  if (Array.isArray(expression)) return expression.map((one) => evaluate(document, one) ?? null);
  if (!isRecord(expression)) return expression;
  const [[name = '', given] = []] = Object.entries(expression);
  const all = (Array.isArray(given) ? given : [given]) as readonly unknown[] as Expressions;
  const [late, early] = [lazy[name], eager[name]];
  if (late) return late(document, all);
  if (!early) throw new Error(`The fake database has no expression ${name}`);
  return early(all.map((one) => evaluate(document, one)) as readonly unknown[] as Expressions);
};

/** True if MongoDB finds the document by this filter. */
export const matches = (document: Document, filter: Document): boolean =>
  Object.entries(filter).every(([key, wanted]) => {
    if (key === '$and') return wanted.every((one: Document) => matches(document, one));
    if (key === '$or') return wanted.some((one: Document) => matches(document, one));
    if (key === '$nor') return !wanted.some((one: Document) => matches(document, one));
    if (key === '$expr') return isTrue(evaluate(document, wanted));
    const found = key.includes('.') ? leaves(document, key.split('.')) : [document[key]];
    const each = found.flatMap((value) => (Array.isArray(value) ? [value, ...value] : [value]));
    return holdsAll(isOperators(wanted) ? wanted : { $eq: wanted }, each, found);
  });
