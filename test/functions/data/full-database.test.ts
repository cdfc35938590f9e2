import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { handler as updateUser } from '../../../functions/dashboard/users/update-user.ts';
import { handler as aggregateDocuments } from '../../../functions/data/aggregate-documents.ts';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as getDocument } from '../../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { handler as updateProfile } from '../../../functions/user-auth/update-profile.ts';
import { databaseUsed, forgetDatabaseUse } from '../../../shared/projects/database-quota.ts';
import { plans } from '../../../shared/projects/plans.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { newProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

process.env.RATE_LIMIT = '0';

let project: UsersProject;
let id: string;
const sizes = { free: plans.free.databaseBytes, pro: plans.pro.databaseBytes };

const setSizes = (bytes: typeof sizes): void => {
  for (const plan of ['free', 'pro'] as const) Object.assign(plans[plan], { databaseBytes: bytes[plan] });
};

beforeAll(async () => {
  project = await newUsersProject();
  await project.addCollection({ name: 'notes' });
  const body = { text: 'long enough', done: false, inner: { a: 'long' }, list: [1, 2] };
  id = (await project.api<{ _id: string }>('POST', '/api/data/notes', { body })).body._id;
  setSizes({ free: 1, pro: 1 });
});

afterAll(() => setSizes(sizes));

const full = { status: 403, body: { code: 'DATABASE_QUOTA_EXCEEDED' } };
const ask = (handler: Parameters<typeof invoke>[0], options: InvokeOptions = {}) =>
  invoke(handler, { key: project.secretKey, params: { collectionName: 'notes', id }, ...options });

describe('in a full database', () => {
  test.each<[string, object]>([
    ['a longer text', { text: 'longer than it was' }],
    ['a new field', { other: 1 }],
    ['a longer text inside', { 'inner.a': 'longer' }],
    ['an element', { 'list.0': 1 }],
  ])('403 for an update that adds: %s', async (_what, body) => {
    expect(await ask(updateDocument, { body })).toMatchObject(full);
  });

  test('403 for new documents, alone or in bulk', async () => {
    expect(await ask(createDocument, { body: {} })).toMatchObject(full);
    expect(await ask(createDocuments, { body: [{}] })).toMatchObject(full);
  });

  test.each<[string, object]>([
    ['as large a value', { done: true }],
    ['a shorter text', { text: 'short' }],
    ['a shorter text inside', { 'inner.a': '' }],
    ['less, and more for it', { list: [], 'inner.a': 'abc' }],
  ])('200 for an update that adds nothing: %s', async (_what, body) => {
    expect(await ask(updateDocument, { body })).toMatchObject({ status: 200 });
  });

  test('404 for an update when the document is missing', async () => {
    const params = { collectionName: 'notes', id: 'f'.repeat(24) };
    expect((await ask(updateDocument, { params, body: { done: true } })).status).toBe(404);
  });

  test('200 for every read and deletion', async () => {
    expect((await ask(getDocument)).status).toBe(200);
    for (const query of ['', 'cursor=', 'count=true', 'done=true&sort=text']) {
      expect((await ask(listDocuments, { query })).status).toBe(200);
    }
    expect((await ask(aggregateDocuments, { body: { pipeline: [{ $count: 'n' }] } })).status).toBe(200);
    expect((await ask(deleteDocument)).status).toBe(200);
  });
});

test('403 for a bulk whose documents have room one by one but not together; no document is stored', async () => {
  const roomy = await newProject([{ name: 'notes' }]);
  const limit = (await databaseUsed(await domainProject(roomy))) + 250_000;
  setSizes({ free: limit, pro: limit });
  const [one, two, three] = ['a', 'b', 'c'].map((mark) => ({ mark, text: 'x'.repeat(100_000) }));
  const insert = (body: unknown) => ask(createDocuments, { key: roomy.secretKey, body });
  expect(await insert([one, two, three])).toMatchObject(full);
  const count = await ask(listDocuments, { key: roomy.secretKey, query: 'count=true' });
  expect(count.body).toMatchObject({ data: { count: 0 } });
  expect((await insert([one, two])).status).toBe(201);
  expect(await insert([three])).toMatchObject(full);
});

test('403 for any value of a field that the caller may not read, however long the stored one is', async () => {
  setSizes(sizes);
  await project.addCollection({
    name: 'kept',
    schema: [
      { key: 'secret', type: 'String', read: 'server' },
      { key: 'text', type: 'String' },
    ],
    rls: { enabled: true, mode: 'private' },
  });
  const { accessToken: token } = await project.newUser();
  const path = '/api/data/kept';
  const caller = { key: project.publishableKey, token };
  const { body } = await project.api<{ _id: string }>('POST', path, { ...caller, body: { text: 'some' } });
  await project.api('PATCH', `${path}/${body._id}`, { body: { secret: 'a long text' } });
  setSizes({ free: 1, pro: 1 });
  const params = { collectionName: 'kept', id: body._id };
  const set = (value: object) => ask(updateDocument, { ...caller, params, body: value });
  expect(await set({ secret: 'short' })).toMatchObject(full);
  expect(await set({ secret: 'a text that is longer than the stored one' })).toMatchObject(full);
  expect(await set({ text: 'less' })).toMatchObject({ status: 200 });
  expect(await ask(updateDocument, { params, body: { secret: 'short' } })).toMatchObject({ status: 200 });
});

test('200 when a profile does not grow, 403 when it does', async () => {
  setSizes(sizes);
  const { accessToken, userId } = await project.newUser({ username: `user${Date.now()}` });
  setSizes({ free: 1, pro: 1 });
  const mine = (username: string) =>
    invoke(updateProfile, { key: project.publishableKey, token: accessToken, body: { username } });
  const params = { projectId: project.id, id: userId };
  const theirs = (username: string) =>
    invoke(updateUser, { token: project.developer.token, params, body: { username } });
  expect((await mine('short')).status).toBe(200);
  expect(await mine('longer-than-that')).toMatchObject(full);
  expect((await theirs('brief')).status).toBe(200);
  expect(await theirs('longer-than-that')).toMatchObject(full);
});

test('403 when the indexes are too large for the documents, 201 after they are dropped', async () => {
  setSizes({ free: 1024 * 1024, pro: 1024 * 1024 });
  await project.addCollection({ name: 'multiplied' });
  const params = { collectionName: 'multiplied' };
  const indexes = `/api/projects/${project.id}/collections/multiplied/indexes`;
  const index = await project.developer.dashboard<{ data: { name: string } }>('POST', indexes, {
    keys: { a: 1, s: 1 },
  });
  // Each number is indexed with a text that does not compress: 12 MiB of keys.
  const body = { a: Array.from({ length: 300 }, (_, n) => n), s: randomBytes(20_000).toString('hex') };
  expect((await ask(createDocument, { params, body })).status).toBe(201);
  const added = async () => {
    forgetDatabaseUse();
    return (await ask(createDocument, { params, body: {} })).status;
  };
  await expect.poll(added, { interval: 500 }).toBe(403);
  const dropped = await project.developer.dashboard('DELETE', `${indexes}/${index.body.data.name}`);
  expect(dropped.status).toBe(200);
  await expect.poll(added, { interval: 500 }).toBe(201);
});
