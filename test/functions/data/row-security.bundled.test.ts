import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel, type RequestOptions, tally } from '../../support/clients/client.ts';
import { feed, notes, todos } from '../../support/fixtures/collections.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

let project: TestProject;
let other: TestProject;
let domain: Project;
let ann: RequestOptions;
let bob: RequestOptions;
const annId = 'a'.repeat(24);
const bobId = 'b'.repeat(24);

beforeAll(async () => {
  project = await newProject([feed, todos, notes]);
  other = await newProject([feed, todos]);
  domain = await domainProject(project);
  const key = project.publishableKey;
  ann = { key, token: await project.tokenFor(annId) };
  bob = { key, token: await project.tokenFor(bobId) };
});

type Body = Record<string, unknown> & { _id: string };

const create = (collection: string, who: RequestOptions, body: unknown) =>
  project.api<Body>('POST', `/api/data/${collection}`, { ...who, body });
const bodyOf = (collection: string, extra: object = {}) => ({
  ...(collection === 'todos' ? { task: 't' } : {}),
  ...extra,
});

describe.each(['feed', 'todos'])('writing to %s with the publishable key', (collection) => {
  test('201 with the caller as owner, whether the body contains it or not', async () => {
    for (const extra of [{}, { userId: annId }]) {
      expect(await create(collection, ann, bodyOf(collection, extra))).toMatchObject({
        status: 201,
        body: { userId: annId },
      });
    }
  });

  test.each([[bobId], [''], [null], [5], [[annId]], [{ $ne: null }]])(
    '403 or 400 with the owner %j',
    async (userId) => {
      const answer = await create(collection, ann, bodyOf(collection, { userId }));
      expect([400, 403]).toContain(answer.status);
      expect(['NOT_OWNER', 'VALIDATION_FAILED']).toContain(answer.body.code);
    },
  );

  test('401 without a token, with garbage, and with another project’s token', async () => {
    const { key = '' } = ann;
    const foreign = await other.tokenFor(annId);
    expect(await create(collection, { key }, bodyOf(collection))).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_MISSING' },
    });
    for (const token of ['garbage', foreign, `${ann.token}x`]) {
      expect(await create(collection, { key, token }, bodyOf(collection))).toMatchObject({
        status: 401,
        body: { code: 'TOKEN_INVALID' },
      });
    }
  });

  test('200 for the owner, 403 for other users: update, delete, recover, permanent delete', async () => {
    const made = await create(collection, ann, bodyOf(collection));
    const path = `/api/data/${collection}/${made.body._id}`;
    expect(await project.api('PATCH', path, { ...bob, body: { done: true } })).toMatchObject({
      status: 403,
      body: { code: 'NOT_OWNER' },
    });
    expect((await project.api('PATCH', path, { ...ann, body: { done: true } })).status).toBe(200);
    expect(await project.api('DELETE', path, bob)).toMatchObject({ status: 403, body: { code: 'NOT_OWNER' } });
    expect((await project.api('DELETE', path, ann)).status).toBe(200);
    expect(await project.api('PATCH', `${path}/recover`, bob)).toMatchObject({
      status: 403,
      body: { code: 'NOT_OWNER' },
    });
    expect((await project.api('PATCH', `${path}/recover`, ann)).status).toBe(200);
    expect((await project.api('DELETE', `${path}?permanent=true`, bob)).status).toBe(403);
    expect((await project.api('DELETE', `${path}?permanent=true`, ann)).status).toBe(200);
  });

  test('403 NOT_OWNER for another user’s document, trashed or not', async () => {
    const { _id } = (await create(collection, ann, bodyOf(collection))).body;
    const path = `/api/data/${collection}/${_id}`;
    const attempts = async () => {
      const requests: [string, string, object?][] = [
        ['PATCH', path, { done: true }],
        ['PUT', path, { done: true }],
        ['DELETE', path],
        ['DELETE', `${path}?permanent=true`],
        ['PATCH', `${path}/recover`],
      ];
      const answers = [];
      for (const [method, at, body] of requests) {
        const answer = await project.api(method, at, { ...bob, ...(body ? { body } : {}) });
        answers.push({ method, at, status: answer.status, code: answer.body.code, message: answer.body.message });
      }
      return answers;
    };
    const active = await attempts();
    expect(active.map(({ status, code }) => [status, code])).toEqual(Array(5).fill([403, 'NOT_OWNER']));
    expect((await project.api('DELETE', path, ann)).status).toBe(200);
    expect(await attempts()).toEqual(active);
    expect((await project.api('PATCH', `${path}/recover`, ann)).status).toBe(200);
  });

  test('403 for a document without an owner or with an array of owners', async () => {
    const nobody = await create(collection, {}, bodyOf(collection));
    expect(nobody.status).toBe(201);
    expect(nobody.body).not.toHaveProperty('userId');
    const answer = await project.api('PATCH', `/api/data/${collection}/${nobody.body._id}`, { ...ann, body: { a: 1 } });
    expect(answer).toMatchObject({ status: 403, body: { code: 'NOT_OWNER' } });
  });

  test.each(['publishable', 'secret'])('403 Owner field immutable, with the %s key', async (kind) => {
    const who = kind === 'secret' ? {} : ann;
    const made = await create(collection, ann, bodyOf(collection));
    const path = `/api/data/${collection}/${made.body._id}`;
    for (const body of [{ userId: bobId }, { userId: null }, { userId: 5 }, { userId: [annId] }, { 'userId.x': 1 }]) {
      expect(await project.api('PATCH', path, { ...who, body })).toMatchObject({
        status: 403,
        body: { code: 'OWNER_IMMUTABLE', message: 'Owner field immutable' },
      });
    }
    expect(await project.api('PATCH', path, { ...who, body: { userId: annId, done: true } })).toMatchObject({
      status: 200,
      body: { data: { userId: annId, done: true } },
    });
  });

  test('200 when the secret key gives a document its first owner, which then cannot change', async () => {
    const bodies = [bodyOf(collection), bodyOf(collection, { userId: null })];
    for (const [method, body] of [
      ['PUT', bodies[0]],
      ['PATCH', bodies[1]],
    ] as const) {
      const { _id } = (await create(collection, {}, body)).body;
      const path = `/api/data/${collection}/${_id}`;
      expect(await project.api(method, path, { body: { userId: 5 } })).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED', errors: [{ field: 'userId', message: 'userId must be a String' }] },
      });
      expect(await project.api(method, path, { ...ann, body: { userId: annId } })).toMatchObject({
        status: 403,
        body: { code: 'NOT_OWNER' },
      });
      expect((await project.api(method, path, { body: { userId: null, done: false } })).status).toBe(200);
      expect(await project.api(method, path, { body: { userId: annId, done: true } })).toMatchObject({
        status: 200,
        body: { data: { userId: annId, done: true } },
      });
      expect(await project.api(method, path, { body: { userId: bobId } })).toMatchObject({
        status: 403,
        body: { code: 'OWNER_IMMUTABLE' },
      });
      expect((await project.api('PATCH', path, { ...ann, body: { done: false } })).status).toBe(200);
    }
  });

  test('200 for one of 50 concurrent first owners, 403 for the others', async () => {
    const { _id } = (await create(collection, {}, bodyOf(collection))).body;
    const path = `/api/data/${collection}/${_id}`;
    const owners = Array.from({ length: 50 }, (_, n) => n.toString(16).padStart(24, '0'));
    const answers = await inParallel(50, (n) => project.api('PATCH', path, { body: { userId: owners[n], n } }));
    expect(tally(answers)).toEqual({ 200: 1, 403: 49 });
    const winner = answers.findIndex(({ status }) => status === 200);
    expect((await project.api('GET', path)).body).toMatchObject({ userId: owners[winner], n: winner });
  });

  test.each([[['a', null]], [[null]], [7], [{}], [''], [false]])(
    '403 OWNER_IMMUTABLE for an owner from the secret key when %j is already stored',
    async (userId) => {
      const _id = new ObjectId();
      await onProject(domain, (db) => db.collection(collection).insertOne({ _id, userId }));
      const path = `/api/data/${collection}/${_id.toHexString()}`;
      expect(await project.api('PATCH', path, { body: { userId: annId } })).toMatchObject({
        status: 403,
        body: { code: 'OWNER_IMMUTABLE' },
      });
    },
  );

  test('400 NOTHING_TO_UPDATE when the body contains only the same owner', async () => {
    const made = await create(collection, ann, bodyOf(collection));
    const path = `/api/data/${collection}/${made.body._id}`;
    expect((await project.api('PATCH', path, { ...ann, body: {} })).body.code).toBe('NOTHING_TO_UPDATE');
  });

  test('201 for the owner’s bulk; 403 with one other owner, and no document is stored', async () => {
    const path = `/api/data/${collection}/bulk`;
    const good = await project.api('POST', path, { ...ann, body: [bodyOf(collection), bodyOf(collection)] });
    expect(good.status).toBe(201);
    const marked = bodyOf(collection, { mark: 'bulk-owner' });
    const bad = await project.api('POST', path, { ...ann, body: [marked, { ...marked, userId: bobId }] });
    expect(bad).toMatchObject({
      status: 403,
      body: {
        code: 'NOT_OWNER',
        errors: [{ index: 1, field: 'userId', message: expect.stringContaining('"userId"') }],
      },
    });
    const counted = await project.api('GET', `/api/data/${collection}?count=true&mark=bulk-owner`);
    expect(counted.body).toMatchObject({ data: { count: 0 } });
  });
});

describe('reading a private collection with the publishable key', () => {
  test('401 without a valid token: list, count, get, aggregate', async () => {
    const { key = '' } = ann;
    const id = (await create('todos', ann, { task: 'x' })).body._id;
    const requests: [string, string, object?][] = [
      ['GET', '/api/data/todos'],
      ['GET', '/api/data/todos?count=true'],
      ['GET', `/api/data/todos/${id}`],
      ['POST', '/api/data/todos/aggregate', { pipeline: [{ $count: 'n' }] }],
    ];
    for (const [method, path, body] of requests) {
      const none = await project.api(method, path, { key, ...(body ? { body } : {}) });
      expect(none).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
      const garbage = await project.api(method, path, { key, token: 'x', ...(body ? { body } : {}) });
      expect(garbage).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
    }
  });

  test('200 with only the owner’s documents: list, count, filters, aggregate; 404 for another user’s by id', async () => {
    const hidden = (await create('todos', ann, { task: 'secret of ann' })).body._id;
    const list = await project.api<{ data: { items: Body[]; total: number } }>(
      'GET',
      '/api/data/todos?limit=1000',
      bob,
    );
    expect(list.body.data.items.every(({ userId }) => userId === bobId)).toBe(true);
    expect(list.body.data.total).toBe(list.body.data.items.length);
    expect(await project.api('GET', `/api/data/todos/${hidden}`, bob)).toMatchObject({ status: 404 });
    expect(await project.api('GET', `/api/data/todos/${hidden}`, ann)).toMatchObject({ status: 200 });
    for (const query of [
      `_id=${hidden}`,
      `userId=${annId}`,
      'task_regex=secret',
      `userId_in=${annId},${bobId}&task_regex=ann`,
    ]) {
      const answer = await project.api(`GET`, `/api/data/todos?${query}`, bob);
      expect(answer).toMatchObject({ status: 200, body: { data: { items: [], total: 0 } } });
    }
    const grouped = await project.api('POST', '/api/data/todos/aggregate', {
      ...bob,
      body: { pipeline: [{ $match: { task: 'secret of ann' } }, { $count: 'n' }] },
    });
    expect(grouped).toMatchObject({ status: 200, body: { data: [] } });
  });

  test('200 with all documents for the secret key', async () => {
    const id = (await create('todos', ann, { task: 'x' })).body._id;
    expect((await project.api('GET', `/api/data/todos/${id}`)).status).toBe(200);
  });
});

test('200 for any caller who reads a public-read collection', async () => {
  const { key = '' } = ann;
  const made = await create('feed', ann, { text: 'hello' });
  expect((await project.api('GET', `/api/data/feed/${made.body._id}`, { key })).status).toBe(200);
  expect((await project.api('GET', '/api/data/feed', { key, token: 'garbage' })).status).toBe(200);
});

test('403 for a write with the publishable key when row security is off, even with a token', async () => {
  expect(await create('notes', ann, { a: 1 })).toMatchObject({ status: 403, body: { code: 'RLS_REQUIRED' } });
});
