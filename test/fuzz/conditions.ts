import assert from 'node:assert/strict';
import fc from 'fast-check';
import { checkPipeline } from '../../shared/documents/aggregate/check-pipeline.ts';
import { parseListQuery } from '../../shared/documents/query/list-query.ts';
import { parseSearch } from '../../shared/documents/query/search.ts';
import { parseSort } from '../../shared/documents/query/sort.ts';
import { parseSuffixFilters } from '../../shared/documents/query/suffix-filters.ts';
import { parseWhere, toConditions } from '../../shared/documents/query/where.ts';
import { parseOperators } from '../../shared/documents/store/parse-operators.ts';
import { everything } from '../shared/documents/collections.ts';
import { text } from '../support/data/fuzz-values.ts';
import { listOf, mutated, mutatedValue, optional, sequence } from './grammar.ts';
import { parser } from './parser.ts';

export const field = fc.constantFrom(
  'title',
  'views',
  'live',
  'at',
  'author',
  'tags',
  'anything',
  'grid',
  'comments.text',
  'comments',
  'meta.score',
  'meta.author.born',
  '_id',
  'createdAt',
  'nothing',
  'tags.0',
);

const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    'a',
    '',
    'f'.repeat(24),
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    2 ** 53,
  ),
  text,
);

const list = fc.array(scalar, { maxLength: 3 });

const pattern = fc.constantFrom('^a', 'a|b', '(a+)+$', '[a-z]{2,5}', '\\d', '(', '(?=a)', '(a|a)*b', 'é');

export const test = fc.oneof(
  scalar,
  fc.dictionary(
    fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$contains', '$startsWith', '$endsWith'),
    scalar,
    { maxKeys: 2 },
  ),
  fc.record({ $in: list }),
  fc.record({ $nin: list }),
  fc.record({ $all: list }),
  fc.record({ $size: fc.nat(3) }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $regex: pattern }),
);

/** Conditions on fields, joined by `$and`, `$or`, `$nor` and `$not`. */
const { where } = fc.letrec<{ where: unknown }>((tie) => ({
  where: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'where' },
    fc.dictionary(field, test, { maxKeys: 3 }),
    fc
      .tuple(fc.constantFrom('$and', '$or', '$nor'), fc.array(tie('where'), { maxLength: 3 }))
      .map(([by, all]) => ({ [by]: all })),
    fc.tuple(field, tie('where')).map(([path, inner]) => ({ [path]: { $elemMatch: inner } })),
    fc.tuple(field, test).map(([path, inner]) => ({ [path]: { $not: inner } })),
  ),
}));

/** What we send to MongoDB: nothing that runs code or reads elsewhere. */
const sent = new Set([
  '$and',
  '$or',
  '$nor',
  '$not',
  '$eq',
  '$ne',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$in',
  '$nin',
  '$all',
  '$size',
  '$exists',
  '$regex',
  '$options',
  '$elemMatch',
  '$type',
]);

const requireKnown = (value: unknown): void => {
  if (typeof value !== 'object' || value === null || value instanceof Date || '_bsontype' in value) return;
  for (const [key, inner] of Object.entries(value)) {
    assert.ok(!key.startsWith('$') || sent.has(key), `${key} is sent to MongoDB`);
    requireKnown(inner);
  }
};

const suffix = fc.constantFrom(
  '',
  '',
  '_eq',
  '_ne',
  '_gt',
  '_lte',
  '_in',
  '_exists',
  '_regex',
  '_contains',
  '_startswith',
  '_endswith',
  '_x',
);

const parameter = fc.constantFrom(
  'page',
  'limit',
  'skip',
  'sort',
  'search',
  'fields',
  'populate',
  'expand',
  'where',
  'cursor',
  'count',
  'meta',
  'include_deleted',
  'query',
);

const entry = fc.oneof(
  fc.tuple(
    mutated(sequence(field, suffix)),
    mutated(fc.oneof(pattern, scalar.map(String), listOf(scalar.map(String), ','))),
  ),
  fc.tuple(
    parameter,
    mutated(fc.oneof(fc.constantFrom('1', '100', '-1', 'true', 'a,b', '-at,title:asc', '{"title":"a"}', 'rev'), text)),
  ),
);

const operand = fc.oneof(
  scalar,
  list,
  fc.record({ $each: list }, { requiredKeys: [] }),
  fc.record({ text: scalar }),
  where,
);

const operators = fc.dictionary(
  fc.constantFrom(
    '$inc',
    '$mul',
    '$min',
    '$max',
    '$unset',
    '$push',
    '$addToSet',
    '$pull',
    '$pullAll',
    '$pop',
    '$currentDate',
    '$rename',
    '$set',
    '$setOnInsert',
    'title',
  ),
  fc.oneof(fc.dictionary(field, operand, { maxKeys: 3 }), fc.array(field, { maxLength: 3 })),
  { maxKeys: 3 },
);

const stage = fc.oneof(
  where.map(($match) => ({ $match })),
  fc.record({
    $group: fc.record({
      _id: fc.constantFrom<unknown>('$title', null, { $year: '$at' }),
      n: fc.constantFrom<unknown>({ $sum: 1 }, { $push: '$$ROOT' }, { $function: {} }),
    }),
  }),
  fc.record({ $sort: fc.dictionary(field, fc.constantFrom(1, -1), { maxKeys: 3 }) }),
  fc.record({ $limit: scalar }),
  fc.constantFrom<unknown>(
    { $lookup: { from: 'people', localField: 'author', foreignField: '_id', as: 'x' } },
    { $out: 'x' },
    { $unwind: '$tags' },
    { $project: { title: 1 } },
    { $facet: { a: [{ $count: 'n' }] } },
    { $where: '1' },
  ),
);

export const conditions = [
  parser('where', mutatedValue(where), (value) => {
    const found = toConditions(parseWhere(everything, value));
    requireKnown(found);
    return found;
  }),
  parser('suffixes and list parameters', fc.array(entry, { maxLength: 4 }), (entries) => {
    const query = parseListQuery(entries);
    requireKnown(toConditions(parseSuffixFilters(everything, query.filters)));
    return query;
  }),
  parser(
    'operators',
    mutatedValue(operators).filter((value) => typeof value === 'object' && value !== null),
    (value) => parseOperators(everything, value as never),
  ),
  parser('pipelines', mutatedValue(fc.array(stage, { maxLength: 4 })), checkPipeline),
  parser(
    'sorts',
    mutated(
      listOf(sequence(optional(fc.constantFrom('-', '+')), field, optional(fc.constantFrom(':asc', ':desc'))), ','),
    ),
    (sorted) => {
      const sort = parseSort(sorted);
      const printed = sort.map(({ path, direction }) => `${path}:${direction === 1 ? 'asc' : 'desc'}`);
      if (sort.length <= 4) assert.deepEqual(parseSort(printed.join(',')), sort);
      return sort;
    },
  ),
  parser(
    'searches',
    mutated(
      listOf(
        sequence(optional(fc.constant('-')), fc.constantFrom('word', '"a phrase"', 'é', '日本', '"', "l'eau")),
        ' ',
      ),
    ),
    parseSearch,
  ),
];
