import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Collection, MongoClient, type Document as MongoDocument } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LocalService } from '../../infra/local/local-service.ts';
import { startMongo } from '../../infra/local/mongo/engine.ts';
import { AppError } from '../../shared/core/errors.ts';
import { boundPipeline } from '../../shared/documents/aggregate/bound-pipeline.ts';
import { checkPipeline } from '../../shared/documents/aggregate/check-pipeline.ts';
import { maxDocumentBytes } from '../../shared/documents/write/document-size.ts';
import { peakMemory, residentMemory } from '../support/clients/peak-memory.ts';

/*
 * What pipelines that multiply take of the database's memory, measured on a MongoDB of its own: each is refused before
 * it runs, stopped while it does, or stays within the bound, whatever document it meets.
 */

const boundMiB = 256;

let directory: string;
let engine: LocalService;
let client: MongoClient;
let documents: Collection<MongoDocument>;
let pid: number;
/** MiB that are resident when it has just begun. */
let settled: number;

const list = <T>(count: number, value: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => value(n));
const fields = (count: number, value: (n: number) => unknown): Record<string, unknown> =>
  Object.fromEntries(list(count, (n) => [`r${n}`, value(n)]));

const start = async (): Promise<void> => {
  engine = await startMongo(directory, undefined, { report: () => undefined, onExit: () => undefined });
  client = new MongoClient(engine.address);
  documents = client.db('attacks').collection('notes');
  pid = Number((await client.db('admin').command({ serverStatus: 1 })).pid);
};

const stop = async (): Promise<void> => {
  await client?.close();
  await engine?.stop();
};

/** What is resident before an attack; a database that has kept much of the one before is started anew. */
const residentBefore = async (): Promise<number> => {
  await documents.aggregate([{ $match: {} }, { $count: 'n' }]).toArray();
  const resident = await residentMemory(pid);
  if (resident < settled + 32) return resident;
  await stop();
  await start();
  await documents.aggregate([{ $match: {} }, { $count: 'n' }]).toArray();
  return residentMemory(pid);
};

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-memory-'));
  await start();
  const stored: MongoDocument[] = [
    { kind: 'numbers', n: 1_000_000_000, a: list(300_000, (n) => n % 100) },
    { kind: 'text', t: 'ab'.repeat(2_000_000), a: [1] },
    { kind: 'object', o: Object.fromEntries(list(150_000, (n) => [`k${n}`, n])), a: [1] },
    { kind: 'texts', a: list(4000, (n) => `${'y'.repeat(900)}${n}`) },
    { kind: 'small', n: 5, a: list(1000, (n) => n), t: 'abc', o: { k: 1 } },
  ];
  for (const document of stored) await documents.insertOne(document);
  await stop();
  await start();
  settled = await residentMemory(pid);
});

afterAll(async () => {
  await stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

const of = (kind: string, ...stages: object[]) => [{ $match: { kind } }, ...stages];
const sizeOf = (kind: string, x: unknown) => of(kind, { $project: { n: { $size: x } } });
const lengthOf = (kind: string, x: unknown) => of(kind, { $project: { n: { $strLenBytes: x } } });
const copies = (count: number, x: unknown = '$a') => ({ $concatArrays: list(count, () => x) });
const range = (end: unknown) => ({ $range: [0, end] });
const map = (input: unknown, inner: unknown) => ({ $map: { input, in: inner } });
const flat = (input: unknown) => ({
  $reduce: { input, initialValue: [], in: { $concatArrays: ['$$value', '$$this'] } },
});
const rows = (count: number) => [{ $set: { r: range(count) } }, { $unwind: '$r' }];
const counted = { $count: 'n' };
const reversed = { $reverseArray: '$a' };

const attacks: readonly (readonly [string, readonly object[]])[] = [
  ['100 copies of a long array', sizeOf('numbers', copies(100))],
  ['8 copies of a long array', sizeOf('numbers', copies(8))],
  ['100 copies, three times', of('small', ...list(3, () => ({ $set: { a: copies(100) } })), counted)],
  ['a field that doubles 30 times', of('small', ...list(30, () => ({ $set: { a: copies(2) } })), counted)],
  [
    'a field that doubles by way of another',
    of('small', ...list(20, () => [{ $set: { b: '$a' } }, { $set: { a: { $concatArrays: ['$a', '$b'] } } }]).flat()),
  ],
  [
    'a list that doubles',
    sizeOf('small', { $reduce: { input: range(40), initialValue: [1], in: copies(2, '$$value') } }),
  ],
  [
    'a text that doubles',
    lengthOf('small', { $reduce: { input: range(40), initialValue: 'x', in: { $concat: ['$$value', '$$value'] } } }),
  ],
  [
    'variables that quadruple',
    sizeOf(
      'small',
      list(12, () => 0).reduce<unknown>((x) => ({ $let: { vars: { x }, in: copies(4, '$$x') } }), '$a'),
    ),
  ],
  ['a range for each element, flattened', sizeOf('numbers', flat(map('$a', range(10_000))))],
  ['a range for each element', sizeOf('numbers', map('$a', range(1000)))],
  ['a range of ranges', sizeOf('small', map(range(10_000), range(10_000)))],
  ['a range of a range of ranges', sizeOf('small', map(range(1000), map(range(1000), range(1000))))],
  ['a list of 100 million', sizeOf('small', range(100_000_000))],
  ['a list as long as a number says', sizeOf('numbers', range('$n'))],
  ['ten lists of six million', of('small', { $set: fields(10, (n) => range(6_000_000 + n)) }, counted)],
  ['long texts of a range', sizeOf('text', map(range(10_000), { $concat: ['$t', 'x'] }))],
  ['100 texts', of('text', { $set: fields(100, () => ({ $concat: ['$t', 'x'] })) }, counted)],
  ['a text in parts', sizeOf('text', { $split: ['$t', 'a'] })],
  ['a text in parts, ten times', sizeOf('text', { $concatArrays: list(10, () => ({ $split: ['$t', 'a'] })) })],
  ['every match of a pattern', sizeOf('text', { $regexFindAll: { input: '$t', regex: 'a' } })],
  ['every match with its groups', sizeOf('text', { $regexFindAll: { input: '$t', regex: '(a)(b)' } })],
  ['a longer word', lengthOf('text', { $replaceAll: { input: '$t', find: 'a', replacement: 'x'.repeat(1000) } })],
  ['a text in itself', lengthOf('text', { $replaceAll: { input: '$t', find: 'a', replacement: '$t' } })],
  ['fields as a list', sizeOf('object', { $objectToArray: '$o' })],
  ['fields as a list, ten times', sizeOf('object', { $concatArrays: list(10, () => ({ $objectToArray: '$o' })) })],
  ['a wide object in a loop', sizeOf('object', map(range(1000), { $mergeObjects: ['$o', { x: '$$this' }] }))],
  [
    'objects set field by field',
    sizeOf('object', map(range(1000), { $setField: { field: 'x', input: '$o', value: 1 } })),
  ],
  ['a list of 50 columns', sizeOf('numbers', { $zip: { inputs: list(50, () => '$a') } })],
  [
    'a list of 50 columns with defaults',
    sizeOf('texts', {
      $zip: { inputs: ['$a', ...list(49, () => [])], useLongestLength: true, defaults: list(50, () => '$kind') },
    }),
  ],
  [
    'a set that grows',
    sizeOf('texts', { $reduce: { input: '$a', initialValue: [], in: { $setUnion: ['$$value', ['$$this']] } } }),
  ],
  ['every element with every other', sizeOf('small', flat(map('$a', '$a')))],
  ['every element with every other of a long array', sizeOf('numbers', flat(map('$a', '$a')))],
  [
    'four lists for each element',
    sizeOf(
      'numbers',
      map(
        '$a',
        list(4, () => ['$$this']),
      ),
    ),
  ],
  ['an object for each element', sizeOf('numbers', map('$a', { a: '$$this', b: ['$$this'], c: { d: 1 } }))],
  ['a slice for each element', sizeOf('numbers', map('$a', { $slice: ['$a', 1000] }))],
  ['the whole for each of a range', sizeOf('numbers', map(range(1000), { $filter: { input: '$a', cond: true } }))],
  ['the reverse for each of a range', sizeOf('numbers', map(range(1000), reversed))],
  ['60 reversed lists', of('numbers', { $set: fields(60, () => reversed) }, counted)],
  ['60 sorted lists', of('numbers', { $set: fields(60, () => ({ $sortArray: { input: '$a', sortBy: 1 } })) }, counted)],
  [
    '60 lists in one',
    sizeOf(
      'numbers',
      list(60, () => reversed),
    ),
  ],
  ['a field in each element', of('numbers', { $set: { 'a.x': '$kind' } }, counted)],
  ['a list in each element', of('numbers', { $set: { 'a.x': { $reverseArray: range(100) } } }, counted)],
  [
    'ten fields in each element',
    of('numbers', { $set: Object.fromEntries(list(10, (n) => [`a.x${n}`, ['$n']])) }, counted),
  ],
  [
    'whole documents in a group',
    of('numbers', ...rows(1000), { $group: { _id: null, x: { $push: '$$ROOT' } } }, counted),
  ],
  [
    'made lists in a group',
    of('small', ...rows(10_000), { $group: { _id: null, x: { $push: map('$a', { $toString: '$$this' }) } } }, counted),
  ],
  [
    'a set in a group',
    of('small', ...rows(10_000), { $group: { _id: null, x: { $addToSet: [reversed, '$r'] } } }, counted),
  ],
  [
    'the first many of a group',
    of('small', ...rows(10_000), { $group: { _id: null, x: { $firstN: { n: 10_000, input: reversed } } } }, counted),
  ],
  [
    'windows of everything',
    of(
      'small',
      ...rows(10_000),
      { $setWindowFields: { sortBy: { r: 1 }, output: { x: { $push: reversed } } } },
      counted,
    ),
  ],
  [
    'buckets of everything',
    of(
      'small',
      ...rows(10_000),
      { $bucketAuto: { groupBy: '$r', buckets: 10, output: { x: { $push: reversed } } } },
      counted,
    ),
  ],
  [
    'a line without end',
    of(
      'small',
      { $project: { n: 1 } },
      { $densify: { field: 'n', range: { step: 1, bounds: [0, 10_000_000] } } },
      counted,
    ),
  ],
  [
    'every gap filled',
    of(
      'small',
      ...rows(10_000),
      { $set: { a: reversed } },
      { $fill: { sortBy: { r: 1 }, output: { b: { method: 'locf' } } } },
      counted,
    ),
  ],
  ['30 facets of copies', of('numbers', { $facet: fields(30, () => [{ $set: { z: reversed } }]) }, counted)],
  [
    'ten facets that group',
    of('small', ...rows(3000), {
      $facet: fields(10, () => [{ $group: { _id: '$r', x: { $push: reversed } } }, counted]),
    }),
  ],
  [
    'two facets that gather',
    of('small', ...rows(3000), {
      $facet: fields(2, () => [{ $group: { _id: '$r', x: { $push: reversed } } }, counted]),
    }),
  ],
  [
    'five facets that count by key',
    of(
      'small',
      ...rows(10_000),
      { $set: { q: range(100) } },
      { $unwind: '$q' },
      { $project: { r: 1, q: 1 } },
      {
        $facet: fields(5, () => [{ $group: { _id: ['$r', '$q'], n: { $sum: 1 } } }, counted]),
      },
    ),
  ],
  [
    'ten joins of everything',
    of('small', ...list(10, (n) => ({ $lookup: { from: 'notes', pipeline: [], as: `x${n}` } })), counted),
  ],
  [
    'joins of joins',
    of(
      'small',
      { $lookup: { from: 'notes', pipeline: [{ $lookup: { from: 'notes', pipeline: [], as: 'y' } }], as: 'x' } },
      { $set: { z: copies(20, '$x') } },
      counted,
    ),
  ],
  [
    'a join with a large variable',
    of(
      'numbers',
      { $lookup: { from: 'notes', let: { v: '$a' }, pipeline: [{ $set: { x: copies(20, '$$v') } }], as: 'x' } },
      counted,
    ),
  ],
  [
    'a graph of everything',
    of(
      'small',
      { $graphLookup: { from: 'notes', startWith: null, connectFromField: 'none', connectToField: 'none', as: 'x' } },
      { $set: { z: copies(20, '$x') } },
      counted,
    ),
  ],
];

describe('no pipeline takes more than 256 MiB', () => {
  test.each(attacks)('%s', async (_what, pipeline) => {
    const run = async (): Promise<void> => {
      try {
        const stages = boundPipeline(checkPipeline(pipeline).pipeline, maxDocumentBytes);
        await documents.aggregate(stages, { allowDiskUse: false, maxTimeMS: 5000, raw: true }).toArray();
      } catch (error) {
        // Refused, or stopped by MongoDB, which says so; a database that is gone does not.
        if (!(error instanceof AppError) && !('codeName' in (error as object))) throw error;
      }
    };
    const before = await residentBefore();
    const peak = await peakMemory(pid, run);
    expect(peak - before).toBeLessThan(boundMiB);
    expect(await client.db('admin').command({ ping: 1 })).toMatchObject({ ok: 1 });
  });

  test('and there are at least forty', () => expect(attacks.length).toBeGreaterThanOrEqual(40));
});
