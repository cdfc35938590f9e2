import { type Db, type Document, MongoNetworkError, MongoServerError } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { onManaged } from '../../../shared/persistence/mongo.ts';
import { deserialize, findFirstRaw, findRaw } from '../../../shared/persistence/raw-documents.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;
const count = 5;

/** Numbers take six times as many bytes in BSON as in JSON: a page can hold all of them, one database reply cannot. */
const numbers = Array.from({ length: 340_000 }, () => 1);

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }, { name: 'wide' }]);
  await onManaged(project, (db) => db.collection('notes').insertMany(Array.from({ length: count }, (_, n) => ({ n }))));
  // On a busy machine 20 MB take longer than a request may.
  for (let n = 0; n < count; n += 1) {
    await onManaged(project, (db) => db.collection('wide').insertOne({ n, numbers }), 60_000);
  }
});

/** Returns the database with failing plain commands. */
const failing = (db: Db, error: Error): Db => Object.create(db, { command: { value: () => Promise.reject(error) } });

const numbersIn = (batches: readonly (readonly Uint8Array[])[]): unknown[] =>
  batches.flat().map((raw) => deserialize(raw).n);

const sort = { n: 1 } as const;
const find = { sort, limit: 3, maxTimeMS: 5000 };

const outage: Document = { code: 11600, message: 'shutting down' };

describe('a find with documents as raw bytes', () => {
  test('returns the documents within its limit, and the first one', async () => {
    const found = await onManaged(project, (db) => Array.fromAsync(findRaw(db, 'notes', { n: { $gt: 0 } }, find)));
    expect(numbersIn(found)).toEqual([1, 2, 3]);
    const first = await onManaged(project, (db) => findFirstRaw(db, 'notes', {}, { sort: { n: -1 } }));
    expect(first && deserialize(first).n).toBe(4);
    expect(await onManaged(project, (db) => findFirstRaw(db, 'notes', { n: 99 }, {}))).toBeUndefined();
  });

  test.each([
    ['when its connection was lost', new MongoNetworkError('connection closed')],
    ['when the server is shutting down', new MongoServerError(outage)],
  ])('is retried once, as the driver does, %s', async (_title, error) => {
    const [found, first] = await onManaged(project, (db) =>
      Promise.all([
        Array.fromAsync(findRaw(failing(db, error), 'notes', {}, find)),
        findFirstRaw(failing(db, error), 'notes', {}, { sort }),
      ]),
    );
    expect(numbersIn(found)).toEqual([0, 1, 2]);
    expect(first && deserialize(first).n).toBe(0);
  });

  test('is not retried when the server rejects it as invalid', async () => {
    const wrong = new MongoServerError({ code: 2, message: 'bad value' });
    await expect(onManaged(project, (db) => findFirstRaw(failing(db, wrong), 'notes', {}, {}))).rejects.toMatchObject({
      code: expect.any(String),
      cause: wrong,
    });
  });

  test('200 with a full page that exceeds one database reply', async () => {
    const { status, body } = await project.api<{ readonly data: { readonly items: readonly Document[] } }>(
      'GET',
      `/api/data/wide?limit=${count}&sort=n`,
    );
    expect([status, body.data.items.map(({ n }) => n)]).toEqual([200, [0, 1, 2, 3, 4]]);
    expect(body.data.items.every((item) => item.numbers.length === numbers.length)).toBe(true);
  });
});
