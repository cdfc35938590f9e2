import { Binary, type Document as MongoDocument, ObjectId } from 'mongodb';
import { type TypeName, typeOf, typesBeyond } from './bson-order.ts';
import { allOf, anyOf, type Condition } from './condition.ts';
import { isPosition } from './field-at.ts';
import type { Direction, Sort } from './sort.ts';

/*
 * MongoDB sorts an array by its least element (ascending) or its greatest (descending), an empty one as `undefined`,
 * and a missing value as `null`. So a document comes after a position when its value lies beyond it, which `ranges` say
 * in a way that an index on the key and `_id` serves, and an array only when none of its elements lies at the position
 * or before it, which a guard adds.
 */

/** What one field must satisfy. */
interface Test {
  readonly path: string;
  readonly test: MongoDocument;
}

const toCondition = ({ path, test }: Test): Condition => ({ [path]: test });

const isNotANumber = (value: unknown): boolean => typeOf(value) === 'number' && Number.isNaN(Number(String(value)));

/** An array on the way to a sub-field counts as missing where it is empty or holds anything but objects. */
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

/** Values of these types; each test stands for some of them. */
const ofTypes = (path: string, types: readonly TypeName[]): readonly Test[] => {
  const plain = types.filter((type) => type !== 'null' && type !== 'array');
  return [
    ...(plain.length > 0 ? [{ path, test: { $type: plain } }] : []),
    ...(types.includes('array') ? [{ path, test: { $elemMatch: { $type: 'array' } } }] : []),
    ...(types.includes('null') ? [{ path, test: { $eq: null } }, ...missingOnTheWay(path)] : []),
    ...(types.includes('undefined') ? [{ path, test: { $eq: [], $size: 0 } }] : []),
  ];
};

/** Values of the same type that lie beyond `value`: MongoDB compares within a type only, and NaN with nothing. */
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

/** The same test for arrays alone; the planner leaves it aside, so that it picks no index for a guard. */
const inArray = ({ path, test }: Test): Test => {
  if ('$size' in test) return { path, test: { $size: test.$size as unknown } };
  return '$elemMatch' in test ? { path, test } : { path, test: { $elemMatch: test } };
};

/** Shuts out arrays with an element that passes a test; a path may lead through arrays, where any value counts. */
const guard = (path: string, tests: readonly Test[]): readonly Condition[] => {
  if (tests.length === 0) return [];
  return [{ $nor: (path.includes('.') ? tests : tests.map(inArray)).map(toCondition) }];
};

const opposite = (direction: Direction): Direction => (direction === 1 ? -1 : 1);

/** The documents that sort at this value of a key. */
const tie = (path: string, value: unknown, direction: Direction): Condition =>
  allOf([anyOf(at(path, value).map(toCondition)), ...guard(path, beyond(path, value, opposite(direction)))]);

/** No arrays, so that the opposite gives an index narrow bounds; `$type` would have it read everything. */
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

/** The single values among the tests become one test, so that the planner has fewer ranges to choose indexes for. */
const ranges = (tests: readonly Test[]): readonly Condition[] => {
  const [single, others] = [tests.filter(({ test }) => '$eq' in test), tests.filter(({ test }) => !('$eq' in test))];
  const [first] = single;
  if (!first) return others.map(range);
  return [...others.map(range), { [first.path]: { $in: single.map(({ test }) => test.$eq as unknown) } }];
};

/** The documents that sort after this value of a key: one condition a range, so that each can use an index. */
const after = (path: string, value: unknown, direction: Direction): readonly Condition[] => {
  const inTheWay = guard(path, [...at(path, value), ...beyond(path, value, opposite(direction))]);
  return ranges(beyond(path, value, direction)).map((values) => allOf([values, ...inTheWay]));
};

/** Who gave the documents their ids: the service, which gives ObjectIds alone, or also others. */
export type Ids = 'ours' | 'any';

/**
 * The ids that sort after one. A filter compares within a type only; an expression across all of them, in the order of
 * a sort, and as `_id` is never an array, the index serves that too.
 */
const afterId = (id: unknown, direction: Direction, ids: Ids): Condition => {
  const operator = direction === 1 ? '$gt' : '$lt';
  return ids === 'ours' ? { _id: { [operator]: id } } : { $expr: { [operator]: ['$_id', { $literal: id }] } };
};

/**
 * The documents that come after a position in an order, as a filter; see `needsSortKey` for where none can tell.
 * `position` holds MongoDB's own sort key of the document there, a value for each key of the order, `undefined` for an
 * empty array; every value stands where only a literal is read.
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
