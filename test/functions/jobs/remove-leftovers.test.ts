import { randomBytes } from 'node:crypto';
import { Db, MongoNetworkError, MongoServerError, ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createCollection } from '../../../shared/collections/create-collection.ts';
import { deleteCollection, removeAbandonedCollections } from '../../../shared/collections/delete-collection.ts';
import { ensureControlIndexes } from '../../../shared/control-indexes.ts';
import { clock } from '../../../shared/core/clock.ts';
import { removeDeletedProjects } from '../../../shared/deletion/projects.ts';
import { onTable } from '../../../shared/persistence/dynamo.ts';
import { onControl, onManaged } from '../../../shared/persistence/mongo.ts';
import { write } from '../../../shared/persistence/table.ts';
import { deleteProject } from '../../../shared/projects/change-project.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { statsKey } from '../../../shared/usage/requests.ts';
import { newPerson } from '../../support/fixtures/operations/accounts.ts';
import { makeProject, type OwnProject } from '../../support/fixtures/operations/operation.ts';
import { type OwnDatabase, startOwnDatabase } from '../../support/fixtures/own-database.ts';

// A control database of its own: these jobs would find what other tests have in the shared one.
process.env.CONTROL_DATABASE = `control_${randomBytes(6).toString('hex')}`;

const free = { schema: null };
const users = {
  schema: [
    { key: 'email', type: 'String', required: true },
    { key: 'password', type: 'String', required: true },
  ],
};

beforeAll(ensureControlIndexes);

afterEach(() => {
  vi.restoreAllMocks();
});

const later = (minutes: number): void => {
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + minutes * 60_000);
};

/** A write by a function that still caches a deleted collection. */
const writeLate = ({ project }: OwnProject, name: string) =>
  onManaged(project, (db) => db.collection<{ late: boolean }>(name).insertOne({ late: true }));

const inDatabase = async ({ project }: OwnProject): Promise<string[]> =>
  (await onManaged(project, (db) => db.listCollections({}, { nameOnly: true }).toArray()))
    .map(({ name }) => name)
    .sort();

const recordsOf = ({ id }: OwnProject) =>
  onControl((db) =>
    db
      .collection('collections')
      .find({ projectId: new ObjectId(id) }, { sort: { name: 1 } })
      .toArray(),
  );

const mark = ({ id }: OwnProject, name: string, set: Readonly<Record<string, unknown>>) =>
  onControl((db) => db.collection('collections').updateOne({ projectId: new ObjectId(id), name }, { $set: set }));

const itemsAt = (pk: string) =>
  onTable(async (dynamo, TableName) => {
    const { Items = [] } = await dynamo.send('Query', {
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: pk } },
    });
    return Items.map(({ sk }) => sk?.S ?? '');
  });

describe('documents written into a collection after its deletion', () => {
  test('are removed when no function caches the collection; its name and slot are free before', async () => {
    const project = await makeProject(['a', 'b', 'c', 'd', 'e']);
    await deleteCollection(project.project, 'e');
    await writeLate(project, 'e');
    await createCollection(project.project, 'f', free);
    await expect(createCollection(project.project, 'g', free)).rejects.toMatchObject({ code: 'PLAN_LIMIT' });

    await removeAbandonedCollections();
    expect(await inDatabase(project)).toContain('e');
    later(13);
    await removeAbandonedCollections();
    expect(await inDatabase(project)).toEqual(['a', 'b', 'c', 'd', 'f']);
    expect((await recordsOf(project)).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'f']);
  });

  test.each(['notes', 'NOTES'])(
    'are removed immediately when %s is created, whose own documents stay',
    async (name) => {
      const project = await makeProject(['notes']);
      await deleteCollection(project.project, 'notes');
      await writeLate(project, 'notes');
      await createCollection(project.project, name, free);
      expect(await onManaged(project.project, (db) => db.collection(name).countDocuments())).toBe(0);
      await onManaged(project.project, (db) => db.collection(name).insertOne({}));

      later(13);
      await removeAbandonedCollections();
      expect(await inDatabase(project)).toEqual([name]);
      expect(await onManaged(project.project, (db) => db.collection(name).countDocuments())).toBe(1);
    },
  );

  test('201 for one of 20 concurrent creations', async () => {
    const project = await makeProject(['notes']);
    await deleteCollection(project.project, 'notes');
    const made = await Promise.allSettled(
      Array.from({ length: 20 }, () => createCollection(project.project, 'notes', free)),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of made) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'COLLECTION_EXISTS' });
    }
    expect(await inDatabase(project)).toEqual(['notes']);
  });
});

describe('an interrupted deletion of users', () => {
  test.each([
    ['the job', () => removeAbandonedCollections()],
    ['the next creation', ({ project }: OwnProject) => createCollection(project, 'users', users)],
  ])('ends every session when %s finishes it', async (_who, finish) => {
    const project = await makeProject(['users']);
    await newPerson(project);
    const before = await itemsAt(`p#${project.id}`);
    expect(before.some((sk) => sk.startsWith('refresh#'))).toBe(true);
    expect(before.some((sk) => sk.startsWith('email#verify#'))).toBe(true);
    await mark(project, 'users', { state: 'deleting', updatedAt: new Date(0) });

    await finish(project);
    expect((await itemsAt(`p#${project.id}`)).filter((sk) => /^(?:session|refresh|email|rtcode)#/.test(sk))).toEqual(
      [],
    );
  });
});

describe('a drop without a response of the database', () => {
  test('503, and the name stays taken as long as the drop can continue', async () => {
    const project = await makeProject(['notes']);
    const drop = vi.spyOn(Db.prototype, 'dropCollection').mockRejectedValueOnce(new MongoNetworkError('silent'));
    const lost = deleteCollection(project.project, 'notes');
    await expect(lost).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    const { maxTimeMS = Number.POSITIVE_INFINITY } = drop.mock.calls[0]?.[1] ?? {};
    expect(maxTimeMS).toBeLessThanOrEqual(15_000);

    const again = createCollection(project.project, 'notes', free);
    await expect(again).rejects.toMatchObject({
      code: 'COLLECTION_EXISTS',
      message: expect.stringContaining('still being deleted'),
    });
    later(3);
    await createCollection(project.project, 'notes', free);
    expect((await recordsOf(project)).map(({ state }) => state)).toEqual(['active']);
  });

  test('503 when the database gave up, and the next deletion continues immediately', async () => {
    const project = await makeProject(['notes']);
    const busy = new MongoServerError({ message: 'operation exceeded time limit', code: 50 });
    vi.spyOn(Db.prototype, 'dropCollection').mockRejectedValueOnce(busy);
    await expect(deleteCollection(project.project, 'notes')).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await deleteCollection(project.project, 'notes');
    expect((await recordsOf(project)).map(({ state }) => state)).toEqual(['dropped']);
  });
});

describe('a deletion in a customer’s database', () => {
  let own: OwnDatabase;

  beforeAll(async () => {
    own = await startOwnDatabase();
  });

  afterAll(() => own.stop());

  const placedIn = ({ project }: OwnProject, name: string): Project => ({
    ...project,
    placement: { kind: 'external', host: '', encryptedUri: name, openUri: async () => own.uri(name) },
  });

  const has = async (name: string): Promise<boolean> =>
    (await own.client.db(name).listCollections({ name: 'notes' }).toArray()).length > 0;

  test('drops the collection one time; a later one with the same name stays', async () => {
    const project = await makeProject(['notes']);
    const owned = placedIn(project, 'first');
    await own.client.db('first').createCollection('notes');
    await deleteCollection(owned, 'notes');
    expect(await has('first')).toBe(false);
    await own.client.db('first').createCollection('notes');
    await createCollection(owned, 'notes', free);
    expect(await has('first')).toBe(true);
  });

  test('drops nothing in another database when it was interrupted and the project has moved', async () => {
    const project = await makeProject(['notes']);
    for (const name of ['before', 'after']) await own.client.db(name).createCollection('notes');
    vi.spyOn(Db.prototype, 'dropCollection').mockRejectedValueOnce(new MongoNetworkError('silent'));
    const lost = deleteCollection(placedIn(project, 'before'), 'notes');
    await expect(lost).rejects.toMatchObject({ code: 'OWN_DATABASE_UNAVAILABLE' });
    later(3);
    await deleteCollection(placedIn(project, 'after'), 'notes');
    expect([await has('before'), await has('after')]).toEqual([true, true]);
    expect((await recordsOf(project)).map(({ state }) => state)).toEqual(['dropped']);
  });
});

describe('a project that was deleted', () => {
  test('is kept as long as functions can still write to it, and then removed with its statistics', async () => {
    const project = await makeProject(['notes']);
    await write({ put: statsKey('requests', project.id, '2026-01-01') });
    await deleteProject(await project.owned());

    later(11);
    expect(await removeDeletedProjects()).toBe(0);
    await writeLate(project, 'notes');
    later(13);
    await removeDeletedProjects();
    expect(await inDatabase(project)).toEqual([]);
    expect(await itemsAt(`stats#${project.id}`)).toEqual([]);
  });
});
