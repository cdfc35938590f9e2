import { Binary, BSON, type Document as MongoDocument, ObjectId } from 'mongodb';
import { isPosition } from '../../collections/schema/field-path.ts';
import { AppError } from '../../core/errors.ts';
import { maxDepth } from '../../core/json.ts';
import { sendable } from '../wire.ts';
import { allOf, anyOf, type Condition } from './condition.ts';
import { type Direction, type Sort, type TypeName, typeOf, typesBeyond } from './sort.ts';

/** The end of a page: the sort key of its last document, or its id if the key is too long. */
type Position = { readonly values: readonly unknown[] } | { readonly id: unknown };

/** The request line is limited, so a cursor must be short. */
const maxLength = 2048;
const version = 1;

/** The error of a cursor (400). */
export const invalidCursor = (): AppError =>
  new AppError(
    'INVALID_CURSOR',
    'The cursor is not from this list in this order. Send nextCursor unchanged with the same sort, or start again with an empty cursor.',
  );

const carried: ReadonlySet<string> = new Set([
  'undefined',
  'null',
  'number',
  'string',
  'binData',
  'objectId',
  'bool',
  'date',
  'timestamp',
]);

/** Whether a value fits into a cursor and returns as a literal that is safe to compare with. */
const canCarry = (value: unknown, depth = 0): boolean => {
  const type = typeOf(value);
  if (carried.has(type)) return !(value instanceof Date) || !Number.isNaN(value.getTime());
  if (depth >= maxDepth) return false;
  if (Array.isArray(value)) return value.every((item) => item !== undefined && canCarry(item, depth + 1));
  if (type !== 'object' || Object.hasOwn(value as object, '_bsontype') || value instanceof BSON.DBRef) return false;
  return Object.entries(value as object).every(([key, item]) => !key.startsWith('$') && canCarry(item, depth + 1));
};

/** The last key of a sort order is `_id`, which is never missing and never an array. */
const isKey = (values: readonly unknown[]): boolean =>
  !['undefined', 'array'].includes(typeOf(values.at(-1))) && values.every((value) => canCarry(value));

const write = (record: BSON.Document): string => Buffer.from(BSON.serialize(record)).toString('base64url');

/**
 * Opaque, at most 2 KiB. Contains the document's id if its sort key is longer. `fingerprint` ties it to its sort
 * order.
 */
export const encodeCursor = (fingerprint: string, values: readonly unknown[]): string => {
  const head = { v: version, s: fingerprint };
  const text = isKey(values) ? write({ ...head, k: values.map((value) => (value === undefined ? [] : [value])) }) : '';
  return text !== '' && text.length <= maxLength ? text : write({ ...head, i: sendable(values.at(-1)) });
};

/** The same for a document with an unknown sort key: the cursor contains its id. */
export const encodeCursorById = (fingerprint: string, id: unknown): string =>
  write({ v: version, s: fingerprint, i: sendable(id) });

const read = (text: string): BSON.Document | undefined => {
  if (text.length > maxLength || !/^[\w-]+$/.test(text)) return undefined;
  try {
    return BSON.deserialize(Buffer.from(text, 'base64url'));
  } catch {
    return undefined;
  }
};

const unwrap = (list: unknown): readonly unknown[] | undefined => {
  if (!Array.isArray(list) || !list.every((item) => Array.isArray(item) && item.length <= 1)) return undefined;
  return list.map(([value]: unknown[]) => value);
};

/**
 * Reads a cursor written by `encodeCursor` for the same fingerprint, with `keys` sort keys. Throws 400
 * `INVALID_CURSOR` for anything else, including values that could be read as operators.
 */
export const decodeCursor = (fingerprint: string, keys: number, text: string): Position => {
  const record = read(text);
  if (record?.v !== version || record.s !== fingerprint) throw invalidCursor();
  if (Object.hasOwn(record, 'i') && isKey([record.i])) return { id: record.i };
  const values = unwrap(record.k);
  if (values?.length !== keys || !isKey(values)) throw invalidCursor();
  return { values };
};

/*
 * MongoDB sorts an array by its least element (ascending) or its greatest (descending), an empty one as `undefined`,
 * and a missing value as `null`. So a document follows a position if its value lies beyond it; `ranges` express that
 * so that an index on the key and `_id` serves it. An array follows only if none of its elements lies at the
 * position or before it, which a guard adds.
 */

/** A condition on one field. */
interface Test {
  readonly path: string;
  readonly test: MongoDocument;
}

const toCondition = ({ path, test }: Test): Condition => ({ [path]: test });

const isNotANumber = (value: unknown): boolean => typeOf(value) === 'number' && Number.isNaN(Number(String(value)));

/** An array on the way to a sub-field counts as missing if it is empty or holds anything but objects. */
const missingOnTheWay = (path: string): readonly Test[] => {
  const segments = path.split('.');
  return segments.slice(1).flatMap((segment, index) => {
    if (isPosition(segment)) return [];
    const array = segments.slice(0, index + 1).join('.');
    return [
      { path: array, test: { $size: 0 } },
      { path: array, test: { $elemMatch: { $not: { $type: 'object' } } } },
    ];
  });
};

/** Values of these types. Each test covers some of them. */
const ofTypes = (path: string, types: readonly TypeName[]): readonly Test[] => {
  const plain = types.filter((type) => type !== 'null' && type !== 'array');
  return [
    ...(plain.length > 0 ? [{ path, test: { $type: plain } }] : []),
    ...(types.includes('array') ? [{ path, test: { $elemMatch: { $type: 'array' } } }] : []),
    ...(types.includes('null') ? [{ path, test: { $eq: null } }, ...missingOnTheWay(path)] : []),
    ...(types.includes('undefined') ? [{ path, test: { $eq: [], $size: 0 } }] : []),
  ];
};

/** Values of the same type beyond `value`. MongoDB compares within a type only, and NaN with nothing. */
const beyondInType = (path: string, value: unknown, direction: Direction): readonly Test[] => {
  const operator = direction === 1 ? '$gt' : '$lt';
  switch (typeOf(value)) {
    case 'minKey':
    case 'undefined':
    case 'null':
    case 'maxKey':
      return [];
    case 'array':
      return [{ path, test: { $elemMatch: { [operator]: value } } }];
    case 'number':
      if (isNotANumber(value)) return direction === 1 ? [{ path, test: { $gte: Number.NEGATIVE_INFINITY } }] : [];
      return [{ path, test: { [operator]: value } }, ...(direction === 1 ? [] : [{ path, test: { $eq: Number.NaN } }])];
    default:
      return [{ path, test: { [operator]: value } }];
  }
};

const beyond = (path: string, value: unknown, direction: Direction): readonly Test[] => [
  ...beyondInType(path, value, direction),
  ...ofTypes(path, typesBeyond(value, direction)),
];

const at = (path: string, value: unknown): readonly Test[] => {
  const type = typeOf(value);
  if (type === 'null' || type === 'undefined' || type === 'minKey' || type === 'maxKey') return ofTypes(path, [type]);
  return [{ path, test: type === 'array' ? { $elemMatch: { $eq: value } } : { $eq: value } }];
};

/** The same test for arrays only. The planner ignores it, so it picks no index for a guard. */
const inArray = ({ path, test }: Test): Test => {
  if ('$size' in test) return { path, test: { $size: test.$size as unknown } };
  return '$elemMatch' in test ? { path, test } : { path, test: { $elemMatch: test } };
};

/** Excludes arrays with an element that passes a test. A path may lead through arrays, where any value counts. */
const guard = (path: string, tests: readonly Test[]): readonly Condition[] => {
  if (tests.length === 0) return [];
  return [{ $nor: (path.includes('.') ? tests : tests.map(inArray)).map(toCondition) }];
};

const opposite = (direction: Direction): Direction => (direction === 1 ? -1 : 1);

/** The documents with this value of a sort key. */
const tie = (path: string, value: unknown, direction: Direction): Condition =>
  allOf([anyOf(at(path, value).map(toCondition)), ...guard(path, beyond(path, value, opposite(direction)))]);

/** No arrays, so that the negation gives an index narrow bounds; `$type` would read all of it. */
const ordinaryValues = (): readonly MongoDocument[] => [
  { $in: [null, true, false, Number.NaN] },
  { $gte: Number.NEGATIVE_INFINITY },
  { $gte: '' },
  { $gte: {} },
  { $gte: new Binary() },
  { $gte: new ObjectId('0'.repeat(24)) },
  { $gte: new Date(-8.64e15) },
];

const range = ({ path, test }: Test): Condition =>
  test.$elemMatch?.$type === 'array'
    ? { [path]: test, $nor: ordinaryValues().map((value) => ({ [path]: value })) }
    : { [path]: test };

/** Combines single values into one test, so that the planner has fewer ranges. */
const ranges = (tests: readonly Test[]): readonly Condition[] => {
  const [single, others] = [tests.filter(({ test }) => '$eq' in test), tests.filter(({ test }) => !('$eq' in test))];
  const [first] = single;
  if (!first) return others.map(range);
  return [...others.map(range), { [first.path]: { $in: single.map(({ test }) => test.$eq as unknown) } }];
};

/** The documents after this value of a sort key: one condition per range, so that each can use an index. */
const after = (path: string, value: unknown, direction: Direction): readonly Condition[] => {
  const inTheWay = guard(path, [...at(path, value), ...beyond(path, value, opposite(direction))]);
  return ranges(beyond(path, value, direction)).map((values) => allOf([values, ...inTheWay]));
};

/** Who assigned the ids: only the service, which uses ObjectIds, or other programs too. */
export type Ids = 'ours' | 'any';

/**
 * The ids after one. A filter compares within a type only; an expression compares all types in sort order, and the
 * index serves it because `_id` is never an array.
 */
const afterId = (id: unknown, direction: Direction, ids: Ids): Condition => {
  const operator = direction === 1 ? '$gt' : '$lt';
  return ids === 'ours' ? { _id: { [operator]: id } } : { $expr: { [operator]: ['$_id', { $literal: id }] } };
};

/**
 * The documents after a position in a sort order, as a filter; `needsSortKey` tells when none can. `position` is
 * MongoDB's own sort key of the document, one value per key, `undefined` for an empty array. All values are placed
 * where only literals are read.
 */
export const afterPosition = (sort: Sort, position: readonly unknown[], ids: Ids): Condition => {
  const alternatives: Condition[] = [];
  const ties: Condition[] = [];
  for (const [index, { path, direction }] of sort.entries()) {
    const value = position[index];
    if (index === sort.length - 1) {
      alternatives.push(allOf([...ties, afterId(value, direction, ids)]));
    } else {
      alternatives.push(...after(path, value, direction).map((values) => allOf([...ties, values])));
      ties.push(tie(path, value, direction));
    }
  }
  return anyOf(alternatives);
};
