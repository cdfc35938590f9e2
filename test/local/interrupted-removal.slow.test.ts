import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { newSigningKey } from '../../shared/accounts/tokens.ts';
import { createCollection } from '../../shared/collections/create-collection.ts';
import { ensureControlIndexes } from '../../shared/control-indexes.ts';
import { clock } from '../../shared/core/clock.ts';
import { removeDeletedProjects } from '../../shared/deletion/projects.ts';
import { closeDynamo, onTable } from '../../shared/persistence/dynamo.ts';
import { closeMongo, onControl, onProject } from '../../shared/persistence/mongo.ts';
import { deleteProject } from '../../shared/projects/change-project.ts';
import { createProject } from '../../shared/projects/create-project.ts';
import { findOwnedProject, type OwnedProject } from '../../shared/projects/find-project.ts';
import { FaultyService } from '../support/faults/faulty-service.ts';

const ownerId = new ObjectId().toHexString();
let directory: string;
let mongo: FaultyService;
let dynamo: FaultyService;

// Own databases, so that no other test removes projects there or meets the faults.
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-removal-'));
  [mongo, dynamo] = await Promise.all([FaultyService.mongo(directory), FaultyService.dynamo(directory)]);
  process.env.MONGODB_URI = `mongodb://127.0.0.1:${mongo.proxy.port}/?directConnection=true`;
  process.env.AWS_ENDPOINT_URL_DYNAMODB = `http://127.0.0.1:${dynamo.proxy.port}`;
  await ensureControlIndexes();
  await onControl((db) =>
    db.collection('developers').insertOne({ _id: new ObjectId(ownerId), email: 'owner@example.com' }),
  );
});

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all([mongo.heal(), dynamo.heal()]);
});

afterAll(async () => {
  closeDynamo();
  await closeMongo();
  await Promise.all([mongo.stop(), dynamo.stop()]);
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

const addItems = (id: string) =>
  onTable((client, table) =>
    client.send('BatchWriteItem', {
      RequestItems: {
        [table]: Array.from({ length: 20 }, (_, index) => ({
          PutRequest: { Item: { pk: { S: `p#${id}` }, sk: { S: `session#${index}` } } },
        })),
      },
    }),
  );

/** A project with two collections, a document and items in the table. */
const filledProject = async (): Promise<OwnedProject> => {
  const { _id } = await createProject({ id: ownerId, plan: 'pro' }, { name: 'filled' }, newSigningKey);
  const owned = await findOwnedProject(ownerId, _id);
  if (!owned) throw new Error('The project is gone');
  for (const name of ['posts', 'notes']) await createCollection(owned.project, name, { schema: null });
  await onProject(owned.project, (db) => db.collection('posts').insertOne({ a: 1 }));
  await addItems(_id);
  return owned;
};

const remainsOf = async ({ project, record }: OwnedProject) => ({
  projects: await onControl((db) => db.collection('projects').countDocuments({ _id: record._id })),
  records: await onControl((db) => db.collection('collections').countDocuments({ projectId: record._id })),
  documents: await onProject(project, (db) => db.collection('posts').countDocuments()),
  collections: (await onProject(project, (db) => db.listCollections().toArray())).length,
  items: await onTable(async (client, table) => {
    const { Count } = await client.send('Query', {
      TableName: table,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: `p#${project.id}` } },
    });
    return Count;
  }),
});

const whole = { projects: 1, records: 2, documents: 1, collections: 2, items: 20 };
const nothing = { projects: 0, records: 0, documents: 0, collections: 0, items: 0 };

/** One that failed waits again for as long as a new one. */
const later = (minutes: number): void => {
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + minutes * 60_000);
};

/** The driver asks the table once more, so two requests have to be cut there. */
const steps = [
  ['deleting the collection records', () => mongo, 'delete\0\f\0\0\0collections', 1],
  ['reading the items', () => dynamo, 'DynamoDB_20120810.Query', 2],
  ['deleting the items', () => dynamo, 'DynamoDB_20120810.BatchWriteItem', 2],
  ['dropping the database', () => mongo, 'dropDatabase', 1],
  ['deleting the project record', () => mongo, 'delete\0\t\0\0\0projects', 1],
] as const;

describe('interrupted removal of a project', () => {
  describe.each(steps)('%s', (_step, part, text, times) => {
    test.each(['cut halfway', 'lose the answer'] as const)(
      'is finished by the next run when a step is %s',
      async (fault) => {
        const [mine, other] = [await filledProject(), await filledProject()];
        await deleteProject(mine);
        later(13);

        const cuts = part().proxy.meet(fault, { of: text, times });
        expect(await removeDeletedProjects()).toBe(0);
        expect(cuts()).toBe(times);
        await part().heal();

        later(26);
        await removeDeletedProjects();
        expect(await remainsOf(mine)).toEqual(nothing);
        expect(await remainsOf(other)).toEqual(whole);
      },
    );
  });

  test('is finished by the next run when the databases are killed', async () => {
    const [mine, other] = [await filledProject(), await filledProject()];
    await deleteProject(mine);
    later(13);

    const removal = removeDeletedProjects();
    await Promise.all([mongo.kill(), dynamo.kill()]);
    await removal.catch(() => undefined);
    await Promise.all([mongo.restart(), dynamo.restart()]);

    later(26);
    await removeDeletedProjects();
    expect(await remainsOf(mine)).toEqual(nothing);
    expect(await remainsOf(other)).toEqual(whole);
  });
});
