import { Collection } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as deleteDocuments } from '../../../functions/data/delete-documents.ts';
import { handler as updateDocuments } from '../../../functions/data/update-documents.ts';
import { onManaged } from '../../../shared/persistence/mongo.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
process.env.RATE_LIMIT = '0';

interface Result {
  readonly matched: number;
  readonly changed: number;
  readonly more: boolean;
  readonly cursor: string | null;
  readonly errors: readonly { readonly id: string; readonly code: string; readonly message: string }[];
}

let project: UsersProject;
let [ann, bob]: (RequestOptions & { readonly id: string })[] = [];

const collections = [
  {
    name: 'tasks',
    schema: [
      { key: 'n', type: 'Number', min: 0 },
      { key: 'code', type: 'String', unique: true },
    ],
  },
  { name: 'notes', rls: { enabled: true, mode: 'public-read' } },
  {
    name: 'cards',
    schema: [
      { key: 'n', type: 'Number' },
      { key: 'state', type: 'String' },
      { key: 'secret', type: 'String', read: 'server' },
      { key: 'points', type: 'Number', write: 'server' },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'owner',
      rules: {
        read: { $user: {} },
        create: true,
        update: { owner: { $user: '_id' } },
        delete: { owner: { $user: '_id' } },
        purge: false,
      },
    },
  },
  { name: 'watched', changes: true, closed: true, schema: [{ key: 'n', type: 'Number' }] },
];

const send = async (method: string, at: string, body: unknown, who: RequestOptions = {}) =>
  project.api<{ data: Result; code: string; errors?: readonly { field: string }[] }>(method, `/api/data/${at}`, {
    ...who,
    body,
  });
const update = (name: string, where: object, changes: object, who?: RequestOptions, more: object = {}) =>
  send('PATCH', name, { where, changes, ...more }, who);
const remove = (name: string, where: object, who?: RequestOptions, more: object = {}) =>
  send('POST', `${name}/delete`, { where, ...more }, who);

const insert = async (name: string, documents: readonly object[], who: RequestOptions = {}) => {
  const made = await project.api<{ data: { ids: string[] } }>('POST', `/api/data/${name}/bulk`, {
    ...who,
    body: documents,
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.data.ids;
};

const items = async (name: string, query: string, who: RequestOptions = {}) => {
  const list = await project.api<{ data: { items: Record<string, unknown>[] } }>(
    'GET',
    `/api/data/${name}?sort=_id&limit=100&${query}`,
    who,
  );
  return list.body.data.items;
};

/** Stores this many documents directly in the database. */
const store = (name: string, count: number, more: object = {}) =>
  onManaged(
    project,
    async (db) => {
      const documents = Array.from({ length: count }, (_, n) => ({ n, ...more, isDeleted: false, deletedAt: null }));
      await db.collection(name).insertMany(documents);
    },
    30_000,
  );

/** Sends an update whose time limit is over after its first step. */
const shortCall = async (who: RequestOptions | undefined): Promise<Result> => {
  await insert(
    'notes',
    Array.from({ length: 30 }, () => ({ n: 1, of: 'short' })),
    who,
  );
  const { now } = performance;
  let isOver = false;
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + (isOver ? 15_000 : 0));
  vi.spyOn(Collection.prototype, 'findOneAndUpdate').mockImplementationOnce(function (this: Collection, ...args) {
    isOver = true;
    return this.findOneAndUpdate(...(args as Parameters<Collection['findOneAndUpdate']>));
  });
  const body = { where: { of: 'short' }, changes: { n: 2 } };
  const { key, token } = who as { key: string; token: string };
  const answer = await invoke(updateDocuments, {
    key,
    token,
    params: { collectionName: 'notes' },
    body,
  }).finally(() => vi.restoreAllMocks());
  return answer.body.data as unknown as Result;
};

beforeAll(async () => {
  project = await newUsersProject();
  for (const collection of collections) await project.addCollection(collection);
  const people = await Promise.all([project.newUser(), project.newUser()]);
  [ann, bob] = people.map(({ userId, accessToken }) => ({
    id: userId,
    key: project.publishableKey,
    token: accessToken,
  }));
});

afterEach(() => vi.restoreAllMocks());

describe('an update of many documents', () => {
  test('200 changes each matching document and no other', async () => {
    await insert('tasks', [
      { n: 1, code: 'a' },
      { n: 2, code: 'b' },
      { n: 3, code: 'c' },
    ]);
    const { status, body } = await update('tasks', { n: { $gte: 2 } }, { 'meta.done': true });
    const result = { matched: 2, changed: 2, more: false, cursor: null, errors: [] };
    expect({ status, data: body.data }).toEqual({ status: 200, data: result });
    expect((await items('tasks', 'meta.done=true')).map(({ n }) => n)).toEqual([2, 3]);
    const [first] = await items('tasks', 'n=1&meta=rev');
    expect(first).not.toHaveProperty('meta');
  });

  test('200 lists the documents whose changes would be invalid or duplicate, and changes the others', async () => {
    const [low, high] = await insert('tasks', [
      { n: 10, code: 'x' },
      { n: 20, code: 'y' },
    ]);
    const { body } = await update('tasks', { code: { $in: ['x', 'y'] } }, { code: 'z' });
    expect(body.data).toMatchObject({ matched: 2, changed: 1, errors: [{ code: 'DUPLICATE_VALUE' }] });
    const spent = await update('tasks', { _id: { $in: [low, high] } }, { $inc: { n: -15 } });
    expect(spent.body.data).toMatchObject({ changed: 1, errors: [{ id: low, code: 'VALIDATION_FAILED' }] });
    expect((await items('tasks', `_id_in=${low},${high}`)).map(({ n }) => n)).toEqual([10, 5]);
  });

  test('200 checks the condition again in each write', async () => {
    const ids = await insert('watched', [{ n: 1 }, { n: 1 }]);
    const both = await Promise.all([update('watched', { n: 1 }, { n: 2 }), update('watched', { n: 1 }, { n: 3 })]);
    expect(both.reduce((sum, { body }) => sum + body.data.changed, 0)).toBe(2);
    for (const { body } of both) {
      for (const { id, code } of body.data.errors) expect([ids.includes(id), code]).toEqual([true, 'CONDITION_FAILED']);
      expect(body.data.matched).toBe(body.data.changed + body.data.errors.length);
    }
  });

  test('200 with a cursor that continues past 1000 documents and past errors until the end', async () => {
    await store('tasks', 1005, { of: 'walk' });
    const where = { of: 'walk' };
    const calls: Result[] = [];
    let next = {};
    do {
      const { body } = await update('tasks', where, { $inc: { n: -1 } }, {}, next);
      calls.push(body.data);
      next = { cursor: body.data.cursor };
    } while (calls.at(-1)?.more);
    const sum = (count: (result: Result) => number) => calls.reduce((total, each) => total + count(each), 0);
    expect([sum(({ matched }) => matched), sum(({ changed }) => changed)]).toEqual([1005, 1004]);
    expect(calls.flatMap(({ errors }) => errors)).toMatchObject([{ code: 'VALIDATION_FAILED' }]);
    expect(Math.max(...calls.map(({ matched }) => matched))).toBeLessThanOrEqual(1000);
    expect(calls.at(-1)?.cursor).toBeNull();
    const cursor = calls[0]?.cursor;
    const invalid = { status: 400, body: { code: 'INVALID_CURSOR' } };
    for (const answer of [
      await update('tasks', { of: { $eq: 'walk' } }, { n: 7 }, {}, { cursor }),
      await remove('tasks', where, {}, { cursor }),
      await update('watched', { n: 1 }, { n: 7 }, {}, { cursor }),
      await update('tasks', where, { n: 7 }, {}, { cursor: 'x' }),
    ]) {
      expect(answer).toMatchObject(invalid);
    }
  });

  test('400 INVALID_CURSOR for a cursor of another caller', async () => {
    const { cursor } = await shortCall(ann);
    const body = { where: { of: 'short' }, changes: { n: 9 }, cursor };
    const other = { status: 400, body: { code: 'INVALID_CURSOR' } };
    expect(await send('PATCH', 'notes', body, bob)).toMatchObject(other);
    expect(await send('PATCH', 'notes', body)).toMatchObject(other);
    expect((await send('PATCH', 'notes', body, ann)).status).toBe(200);
  });

  test('200 with a cursor when the time limit is over', async () => {
    const { matched, changed, more, cursor } = await shortCall(ann);
    expect([matched, changed, more, typeof cursor]).toEqual([20, 20, true, 'string']);
  });

  test.each([
    ['400 INVALID_FILTER for an empty where', { where: {}, changes: { n: 1 } }, 'INVALID_FILTER'],
    ['400 INVALID_FILTER for an unknown operator', { where: { n: { $near: 1 } }, changes: { n: 1 } }, 'INVALID_FILTER'],
    ['400 VALIDATION_FAILED without a where', { changes: { n: 1 } }, 'VALIDATION_FAILED'],
    ['400 VALIDATION_FAILED without changes', { where: { n: 1 } }, 'VALIDATION_FAILED'],
    [
      '400 VALIDATION_FAILED for an unknown member',
      { where: { n: 1 }, changes: { n: 1 }, limit: 5 },
      'VALIDATION_FAILED',
    ],
    [
      '400 VALIDATION_FAILED for a change of a wrong type',
      { where: { n: 1 }, changes: { n: 'x' } },
      'VALIDATION_FAILED',
    ],
    ['400 NOTHING_TO_UPDATE for no changes', { where: { n: 1 }, changes: {} }, 'NOTHING_TO_UPDATE'],
    ['400 INVALID_UPDATE for an unknown operator', { where: { n: 1 }, changes: { $near: { n: 1 } } }, 'INVALID_UPDATE'],
  ])('%s', async (_title, body, code) => {
    expect(await send('PATCH', 'tasks', body)).toMatchObject({ status: 400, body: { code } });
  });

  test('400 VALIDATION_FAILED for a condition on a field that a closed collection lacks', async () => {
    expect((await update('watched', { nn: 1 }, { n: 1 })).status).toBe(400);
  });

  test('gives each document a new position in the changes feed', async () => {
    await insert('watched', [{ n: 50 }, { n: 50 }]);
    const start = await project.api<{ data: { next: string } }>('GET', '/api/data/watched/changes');
    await update('watched', { n: 50 }, { n: 51 });
    const since = encodeURIComponent(start.body.data.next);
    const feed = await project.api<{ data: { changes: { rev: number }[] } }>(
      'GET',
      `/api/data/watched/changes?since=${since}`,
    );
    expect(feed.body.data.changes.map(({ rev }) => rev)).toEqual([2, 2]);
  });
});

describe('a deletion of many documents', () => {
  test('200 moves each matching document to the trash, or deletes it permanently', async () => {
    const ids = await insert('tasks', [
      { n: 2000, code: 'd' },
      { n: 2000, code: 'e' },
      { n: 2001, code: 'f' },
    ]);
    expect((await remove('tasks', { n: 2000 })).body.data).toMatchObject({ matched: 2, changed: 2, more: false });
    expect(await items('tasks', 'n=2000')).toEqual([]);
    expect(await items('tasks', 'n=2000&include_deleted=true')).toHaveLength(2);
    expect((await remove('tasks', { n: 2001 }, {}, { permanent: true })).body.data).toMatchObject({ changed: 1 });
    expect(await items('tasks', `_id_in=${ids.join(',')}&include_deleted=true`)).toHaveLength(2);
  });

  test('400 INVALID_FILTER for an empty where, VALIDATION_FAILED for an unknown member', async () => {
    expect(await remove('tasks', {})).toMatchObject({ status: 400, body: { code: 'INVALID_FILTER' } });
    const wrong = await remove('tasks', { n: 1 }, {}, { permanently: true });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });
});

describe('the rights of a caller', () => {
  test('200 lists other users’ readable documents with NOT_OWNER', async () => {
    const [mine] = await insert('notes', [{ n: 41 }], ann);
    const [theirs] = await insert('notes', [{ n: 41 }], bob);
    const { body } = await update('notes', { n: 41 }, { n: 42 }, ann);
    expect(body.data).toMatchObject({ matched: 2, changed: 1, errors: [{ id: theirs, code: 'NOT_OWNER' }] });
    expect((await items('notes', 'n=42', ann)).map(({ _id }) => _id)).toEqual([mine]);
    expect((await remove('notes', { n: { $in: [41, 42] } }, ann)).body.data).toMatchObject({ changed: 1 });
  });

  test('200 lists documents that the rules reject with RULE_DENIED, and protected fields with FIELD_PROTECTED', async () => {
    await insert('cards', [{ n: 1 }, { n: 2 }], ann);
    const [theirs] = await insert('cards', [{ n: 1 }], bob);
    const { body } = await update('cards', { n: { $gte: 1 } }, { state: 'done' }, ann);
    expect(body.data).toMatchObject({ matched: 3, changed: 2, errors: [{ id: theirs, code: 'RULE_DENIED' }] });
    const raised = await update('cards', { owner: ann?.id }, { points: 9 }, ann);
    const codes = raised.body.data.errors.map(({ code }) => code);
    expect([raised.body.data.changed, codes]).toEqual([0, ['FIELD_PROTECTED', 'FIELD_PROTECTED']]);
    const purged = await remove('cards', { owner: ann?.id }, ann, { permanent: true });
    expect(purged.body.data).toMatchObject({ changed: 0, errors: [{ code: 'RULE_DENIED' }, { code: 'RULE_DENIED' }] });
  });

  test('400 INVALID_FILTER for a condition on a field that the caller may not read', async () => {
    const hidden = { status: 400, body: { code: 'INVALID_FILTER' } };
    expect(await update('cards', { secret: 'x' }, { n: 3 }, ann)).toMatchObject(hidden);
    expect(await remove('cards', { secret: 'x' }, ann)).toMatchObject(hidden);
  });

  test('401 TOKEN_MISSING without a user, and 403 RLS_REQUIRED without row security', async () => {
    const stranger = { key: project.publishableKey };
    for (const name of ['cards', 'notes']) {
      expect(await update(name, { n: 1 }, { n: 2 }, stranger)).toMatchObject({
        status: 401,
        body: { code: 'TOKEN_MISSING' },
      });
      expect(await remove(name, { n: 1 }, stranger)).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
    }
    expect(await update('tasks', { n: 1 }, { n: 2 }, ann)).toMatchObject({
      status: 403,
      body: { code: 'RLS_REQUIRED' },
    });
  });

  test('404 for a collection that does not exist', async () => {
    expect(await update('nowhere', { n: 1 }, { n: 2 })).toMatchObject({ status: 404 });
  });
});

describe('cost and concurrency', () => {
  const params = { collectionName: 'tasks' };

  test('one find, and one command for each document', async () => {
    await insert('tasks', [
      { n: 3200, code: 'g' },
      { n: 3200, code: 'h' },
      { n: 3200, code: 'i' },
    ]);
    const run = (handler: Parameters<typeof invoke>[0], body: object) => () =>
      invoke(handler, { key: project.secretKey, params, body });
    await run(updateDocuments, { where: { n: 3200 }, changes: { n: 3200 } })();
    const mongodb = (names: readonly string[]) => names.filter((name) => name.startsWith('mongodb'));
    const updated = await commandsOf(run(updateDocuments, { where: { n: 3200 }, changes: { n: 3201 } }));
    expect(mongodb(updated)).toEqual(['mongodb find', ...Array.from({ length: 3 }, () => 'mongodb findAndModify')]);
    const deleted = await commandsOf(run(deleteDocuments, { where: { n: 3201 }, permanent: true }));
    expect(mongodb(deleted)).toEqual([...Array.from({ length: 3 }, () => 'mongodb delete'), 'mongodb find']);
  });

  test('each document is counted down once when 50 calls run concurrently', async () => {
    await insert(
      'tasks',
      Array.from({ length: 20 }, (_, n) => ({ n: 1, code: `race-${n}`, of: 'race' })),
    );
    const calls = await Promise.all(
      Array.from({ length: 50 }, () => update('tasks', { of: 'race', n: { $gte: 1 } }, { $inc: { n: -1 } })),
    );
    expect(calls.reduce((sum, { body }) => sum + body.data.changed, 0)).toBe(20);
    expect((await items('tasks', 'of=race')).map(({ n }) => n)).toEqual(Array.from({ length: 20 }, () => 0));
  });
});
