import { randomBytes } from 'node:crypto';
import { Collection, MongoNetworkError, MongoServerError, ObjectId } from 'mongodb';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { tidyEditedCollections, updateCollection } from '../../../shared/collections/update-collection.ts';
import { ensureControlIndexes } from '../../../shared/control-indexes.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onControl, onManaged } from '../../../shared/persistence/mongo.ts';
import { makeProject, type OwnProject } from '../../support/fixtures/operations/operation.ts';

// A control database of its own: the job would find what other tests have in the shared one.
process.env.CONTROL_DATABASE = `control_${randomBytes(6).toString('hex')}`;

const unique = { schema: [{ key: 'a', type: 'String', unique: true }] };
const plain = { schema: [{ key: 'a', type: 'String' }] };

let own: OwnProject;

beforeAll(ensureControlIndexes);

beforeEach(async () => {
  own = await makeProject(['notes']);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const later = (minutes: number): void => {
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + minutes * 60_000);
};

const insertTwo = () =>
  onManaged(own.project, (db) => db.collection('notes').insertMany([1, 2].map((n) => ({ n, a: 'x' }))));

const edit = (changes: object) => updateCollection(own.project, 'notes', changes);

const record = () =>
  onControl((db) => db.collection('collections').findOne({ projectId: new ObjectId(own.id), name: 'notes' }));

/** Makes the write of the schema fail after its indexes were built. */
const cutBeforeTheRecord = () =>
  vi.spyOn(Collection.prototype, 'findOneAndUpdate').mockRejectedValueOnce(new MongoNetworkError('connection closed'));

describe('503 for an interrupted edit', () => {
  test('before its schema is stored: the job drops the new index', async () => {
    cutBeforeTheRecord();
    await expect(edit(unique)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    vi.restoreAllMocks();
    await expect(insertTwo()).rejects.toMatchObject({ code: 'DUPLICATE_VALUE' });
    expect(await tidyEditedCollections()).toBe(0);
    later(3);
    expect(await tidyEditedCollections()).toBe(1);
    await onManaged(own.project, (db) => db.collection('notes').deleteMany({}));
    await insertTwo();
    expect(await record()).not.toHaveProperty('editingSince');
    expect(await tidyEditedCollections()).toBe(0);
  });

  test('after its schema is stored: the job drops the old index', async () => {
    await edit(unique);
    vi.spyOn(Collection.prototype, 'dropIndex').mockRejectedValueOnce(new MongoNetworkError('connection closed'));
    await expect(edit(plain)).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    vi.restoreAllMocks();
    await expect(insertTwo()).rejects.toMatchObject({ code: 'DUPLICATE_VALUE' });
    later(3);
    expect(await tidyEditedCollections()).toBe(1);
    await onManaged(own.project, (db) => db.collection('notes').deleteMany({}));
    await insertTwo();
  });
});

test('an edit for searches returns when it is stored, and the job builds the index', async () => {
  const indexes = () => onManaged(own.project, (db) => db.collection('notes').listIndexes().toArray());
  vi.spyOn(Collection.prototype, 'createIndexes').mockRejectedValue(new MongoNetworkError('connection timed out'));
  await edit({ schema: [{ key: 'a', type: 'String', searchable: true }] });
  vi.restoreAllMocks();
  expect((await record())?.schema).toMatchObject([{ key: 'a', searchable: true }]);
  expect((await indexes()).filter(({ name }) => String(name).startsWith('basalt_search'))).toEqual([]);
  later(3);
  expect(await tidyEditedCollections()).toBe(1);
  expect((await indexes()).filter(({ name }) => String(name).startsWith('basalt_search'))).toHaveLength(1);
});

describe('an edit leaves no work for the job', () => {
  test.each([
    ['by an edit that ends', () => edit(unique), {}],
    ['409 by one that is refused', () => insertTwo().then(() => edit({ ...unique, force: true })), 'SCHEMA_CONFLICT'],
  ])('%s', async (_what, act, code) => {
    const outcome = await act().catch((error: { readonly code: string }) => error.code);
    if (typeof code === 'string') expect(outcome).toBe(code);
    expect(await record()).not.toHaveProperty('editingSince');
  });
});

test('other collections are tidied when one fails repeatedly', async () => {
  const stuck = own;
  own = await makeProject(['notes']);
  const since = { $set: { editingSince: new Date(0) } };
  await onControl((db) => db.collection('collections').updateMany({}, since));
  await onManaged(own.project, (db) => db.collection('notes').createIndex({ a: 1 }, { name: 'basalt_left' }));
  const { listIndexes } = Collection.prototype;
  vi.spyOn(Collection.prototype, 'listIndexes').mockImplementation(function list(this: Collection, ...options) {
    if (this.dbName === `p_${stuck.id}`) throw new MongoServerError({ message: 'not authorized', code: 13 });
    return listIndexes.apply(this, options);
  });
  await tidyEditedCollections();
  expect(await record()).not.toHaveProperty('editingSince');
  own = stuck;
  expect((await record())?.editingSince).toBeInstanceOf(Date);
});
