import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { handler as updateCollection } from '../../../functions/dashboard/collections/update-collection.ts';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { type OwnDatabase, startOwnDatabase } from '../../support/fixtures/own-database.ts';
import { connectOwn, serveVerifiers } from '../../support/fixtures/own-project.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

Object.assign(process.env, { RATE_LIMIT: '1000000', RATE_BLOCK: '1' });

let own: OwnDatabase;
let stopVerifiers: () => Promise<void>;
let project: TestProject;

const schema = [
  { key: 'code', type: 'String' },
  { key: 'n', type: 'Number' },
  { key: 'parent', type: 'Ref', ref: 'notes', exists: true, onDelete: 'restrict' },
];
const unique = [{ fields: ['code', 'n'], ignoreCase: true }];

beforeAll(async () => {
  own = await startOwnDatabase();
  stopVerifiers = await serveVerifiers();
  project = await newProject([{ name: 'notes', schema, unique }]);
});

afterAll(async () => {
  await stopVerifiers();
  await own.stop();
});

type Handler = Parameters<typeof invoke>[0];

const ask = (handler: Handler, { params, ...options }: InvokeOptions) =>
  invoke(handler, { key: project.secretKey, params: { collectionName: 'notes', ...params }, ...options });
const insert = (body: object) => ask(createDocument, { body });
const inDatabase = async <T>(name: string, act: (client: MongoClient) => Promise<T>): Promise<T> => {
  const client = new MongoClient(own.uri(name));
  try {
    return await act(client);
  } finally {
    await client.close();
  }
};

test('409 SCHEMA_CONFLICT when the documents of a database violate the lists; it is not connected', async () => {
  await inDatabase('clashing', (client) =>
    client
      .db('clashing')
      .collection('notes')
      .insertMany([{ code: 'a' }, { code: 'A' }]),
  );
  expect(await connectOwn(project, own.uri('clashing'))).toMatchObject({
    status: 409,
    body: { code: 'SCHEMA_CONFLICT', errors: [{ field: 'notes' }] },
  });
});

test('a customer’s database enforces unique lists and references, and accepts client ids', async () => {
  expect((await connectOwn(project, own.uri('mine'))).status).toBe(200);
  forgetProjects();
  const answers = await inParallel(50, (n) => insert({ code: n % 2 ? 'a' : 'A' }));
  expect(tally(answers)).toEqual({ 201: 1, 409: 49 });
  expect(await insert({ code: 'A', n: null })).toMatchObject({
    status: 409,
    body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'code, n' }] },
  });
  const id = '5'.repeat(24);
  const put = () =>
    ask(updateDocument, { method: 'PUT', params: { id }, headers: { 'if-none-match': '*' }, body: { n: 5 } });
  expect(tally(await inParallel(50, put))).toEqual({ 201: 1, 412: 49 });
  expect((await insert({ parent: '1'.repeat(24) })).status).toBe(400);
  expect((await insert({ parent: id })).status).toBe(201);
  expect(await ask(deleteDocument, { params: { id } })).toMatchObject({
    status: 409,
    body: { code: 'STILL_REFERENCED', errors: [{ field: 'parent', collection: 'notes', count: 1 }] },
  });
});

test('409 SCHEMA_CONFLICT for an edit when that database has no room for another index', async () => {
  const keys = Array.from({ length: 59 }, (_, n) => ({ name: `own${n}`, key: { [`k${n}`]: 1 as const } }));
  await inDatabase('mine', async (client) => {
    const notes = client.db('mine').collection('notes');
    const there = await notes.listIndexes().toArray();
    await notes.createIndexes(keys.slice(0, 64 - there.length));
  });
  const params = { projectId: project.id, collectionName: 'notes' };
  const body = { unique: [...unique, ['n']] };
  expect(await invoke(updateCollection, { token: project.developer.token, params, body })).toMatchObject({
    status: 409,
    body: { code: 'SCHEMA_CONFLICT', message: expect.stringContaining('MongoDB 6.0') },
  });
});
