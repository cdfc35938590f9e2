import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as restoreDocument } from '../../../functions/data/restore-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { runCascades } from '../../../shared/documents/store/cascade-job.ts';
import { cascadeRecords } from '../../../shared/documents/store/cascade-records.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { commandChannel, type DatabaseCommand } from '../../../shared/persistence/mongo-commands.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { addMany } from '../../support/fixtures/many-documents.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { stillQueue } from '../../support/fixtures/still-queue.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

process.env.RATE_LIMIT = '0';

let commands: DatabaseCommand[] = [];
const record = (message: unknown): void => {
  commands.push(message as DatabaseCommand);
};

let made: TestProject;
let project: Project;

const ref = (key: string, target: string, onDelete?: string) => ({
  key,
  type: 'Ref',
  ref: target,
  ...(onDelete && { onDelete }),
});

beforeAll(async () => {
  // Only the test takes the tasks.
  process.env.WORK_QUEUE_URL = await stillQueue(process.env.AWS_ENDPOINT_URL ?? '');
  subscribe(commandChannel.name, record);
  made = await newProject([
    { name: 'plain' },
    { name: 'linked', schema: [ref('to', 'plain')] },
    { name: 'posts' },
    { name: 'comments', schema: [ref('trash', 'posts', 'trash'), ref('owned', 'posts', 'delete')] },
    { name: 'likes', schema: [ref('comment', 'comments', 'delete')] },
  ]);
  project = await domainProject(made);
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(() => unsubscribe(commandChannel.name, record));

const make = async (collection: string, body: object = {}): Promise<string> =>
  (await made.api<{ _id: string }>('POST', `/api/data/${collection}`, { body })).body._id;
const call = (handler: Parameters<typeof invoke>[0], collectionName: string, id: string, query = '') =>
  invoke(handler, { key: made.secretKey, params: { collectionName, id }, query });
const count = (collection: string, filter: object = {}) =>
  onProject(project, (db) => db.collection(collection).countDocuments(filter));
const later = (minutes: number): void => {
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + minutes * 60_000);
};

describe('a collection without onDelete references to it', () => {
  test('needs one command for each move to the trash, recovery and deletion', async () => {
    const id = await make('plain');
    await make('linked', { to: id });
    await call(deleteDocument, 'plain', 'f'.repeat(24));
    const costs: string[][] = [];
    for (const [handler, query] of [
      [deleteDocument, ''],
      [restoreDocument, ''],
      [deleteDocument, 'permanent=true'],
    ] as const) {
      commands = [];
      expect((await call(handler, 'plain', id, query)).status).toBe(200);
      costs.push(commands.map(({ name }) => name));
    }
    expect(costs).toEqual([['findAndModify'], ['findAndModify'], ['delete']]);
  });
});

/** Bound for 1000 writes that name up to 100 ids each, or for one filter of 1000 ids. */
const maxCommand = 4_000_000;

describe('10,000 referencing documents', () => {
  /** The largest command in JSON characters, which is what the service held in memory at a time. */
  const largest = (): number => Math.max(...commands.map(({ command }) => JSON.stringify(command ?? {}).length));

  /** Runs the job again as long as a slow run leaves something for later. */
  const followUntil = async (isDone: () => Promise<boolean>): Promise<void> => {
    for (let minutes = 0; !(await isDone()); minutes += 2) {
      expect(minutes).toBeLessThan(10);
      later(minutes);
      await runCascades(project.id);
    }
  };

  test('follow in the request up to 1000, and the job handles the rest in batches', async () => {
    const post = new ObjectId(await make('posts'));
    await addMany(project, 'comments', 10_000, () => ({ trash: post }));
    commands = [];
    expect((await call(deleteDocument, 'posts', post.toHexString())).status).toBe(200);
    expect(await count('comments', { trash: post, isDeleted: true })).toBe(1000);
    await runCascades(project.id);
    expect(await count('comments', { trash: post, isDeleted: true })).toBe(10_000);
    expect((await call(restoreDocument, 'posts', post.toHexString())).status).toBe(200);
    expect(await count('comments', { trash: post, isDeleted: true })).toBe(9000);
    await runCascades(project.id);
    expect(await count('comments', { trash: post, isDeleted: false, deletedAt: null })).toBe(10_000);
    expect(largest()).toBeLessThan(maxCommand);
    later(5);
    await runCascades(project.id);
    expect(await cascadeRecords.find({ projectId: new ObjectId(project.id) })).toEqual([]);
  });

  test('documents with references of their own follow by the job', async () => {
    const post = new ObjectId(await make('posts'));
    const ids = Array.from({ length: 5000 }, () => new ObjectId());
    await addMany(project, 'comments', ids.length, (index) => ({ _id: ids[index], owned: post }));
    await addMany(project, 'likes', 5000, (index) => ({ comment: ids[index] }));
    commands = [];
    expect((await call(deleteDocument, 'posts', post.toHexString(), 'permanent=true')).status).toBe(200);
    await followUntil(async () => (await count('comments', { owned: post })) + (await count('likes')) === 0);
    expect(largest()).toBeLessThan(maxCommand);
  });

  test('a chain of 300 links follows one link after the other', async () => {
    await made.addCollection({ name: 'links', schema: [ref('to', 'links', 'trash')] });
    const now = await domainProject(made);
    const ids = Array.from({ length: 300 }, () => new ObjectId());
    await addMany(now, 'links', ids.length, (index) => ({
      _id: ids[index],
      ...(index > 0 && { to: ids[index - 1] }),
    }));
    expect((await call(deleteDocument, 'links', String(ids[0]))).status).toBe(200);
    await followUntil(async () => (await count('links', { isDeleted: true })) === 300);
    vi.restoreAllMocks();
    expect((await call(restoreDocument, 'links', String(ids[0]))).status).toBe(200);
    await followUntil(async () => (await count('links', { isDeleted: true })) === 0);
  });
});
