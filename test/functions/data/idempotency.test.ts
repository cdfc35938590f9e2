import { randomBytes } from 'node:crypto';
import { Collection, MongoNetworkError, ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import type { LambdaHandler } from '../../../shared/http/stack.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { oneAnswer } from '../../support/clients/one-answer.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { loseFirstAnswers } from '../../support/faults/lost-answers.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

const mine = { enabled: true, mode: 'public-read', ownerField: 'userId' };
let project: TestProject;

beforeAll(async () => {
  project = await newProject([
    { name: 'notes' },
    { name: 'coupons', schema: [{ key: 'code', type: 'String', unique: true }] },
    { name: 'todos', rls: mine },
    { name: 'fed', changes: true },
  ]);
});
afterEach(() => {
  vi.restoreAllMocks();
  forgetProjects();
});

const newKey = (): string => randomBytes(9).toString('base64url');

type Sent = Omit<InvokeOptions, 'method' | 'key'> & { readonly key?: string };

const send = (handler: LambdaHandler, idempotencyKey: string, { headers, ...options }: Sent) =>
  invoke(handler, {
    method: 'POST',
    key: project.secretKey,
    ...options,
    params: { collectionName: 'notes', ...options.params },
    headers: { ...headers, 'idempotency-key': idempotencyKey },
  });
const create = (key: string, body: unknown, collectionName = 'notes') =>
  send(createDocument, key, { body, params: { collectionName } });

const stored = async (filter: object, collection = 'notes') =>
  onProject(await domainProject(project), (db) => db.collection(collection).find(filter).toArray());

const later = (seconds: number): void => {
  const now = Date.now() + seconds * 1000;
  vi.spyOn(clock, 'now').mockReturnValue(now);
  forgetProjects();
};

const inProgress = { status: 409, body: { code: 'IDEMPOTENCY_IN_PROGRESS' } };
const reused = { status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } };
const unknown = { status: 409, body: { code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' } };

describe('a write with an Idempotency-Key', () => {
  test('201 with the first response for each retry, also when the document has changed', async () => {
    const [key, mark] = [newKey(), newKey()];
    const first = await create(key, { mark });
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const params = { id: String(first.body._id) };
    await send(updateDocument, newKey(), { method: 'PATCH', params, body: { mark, changed: true } } as Sent);
    await send(deleteDocument, newKey(), { method: 'DELETE', params, query: 'permanent=true' } as Sent);
    const again = await create(key, { mark });
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('content-type')).toBe('application/json');
    expect(await stored({ mark })).toEqual([]);
  });

  test('costs one write before and one after; a retry needs only the first, a request without the header needs neither', async () => {
    const [key, body] = [newKey(), { n: 1 }];
    // A stopped clock keeps cached lookups from being repeated in between.
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    await create(newKey(), body);
    const count = 'dynamodb UpdateItemCommand';
    expect(await commandsOf(() => create(key, body))).toEqual([count, count, count, 'mongodb insert']);
    expect(await commandsOf(() => create(key, body))).toEqual([count, count]);
    const without = { method: 'POST', key: project.secretKey, params: { collectionName: 'notes' }, body };
    expect(await commandsOf(() => invoke(createDocument, without))).toEqual([count, 'mongodb insert']);
  });

  test('201 for 50 concurrent requests, one of which inserts; the others get the same response when they retry', async () => {
    const [key, mark] = [newKey(), newKey()];
    await oneAnswer(201, () => create(key, { mark }));
    expect(await stored({ mark })).toHaveLength(1);
  });

  test('201 with the first response for the same JSON in another notation', async () => {
    const headers = { 'idempotency-key': newKey() };
    const write = (body: string) => project.api('POST', '/api/data/notes', { body, headers });
    const first = await write('{"a":1.0,"b":{"c":[1,2],"d":"é"}}');
    expect(first.status).toBe(201);
    for (const same of ['{"b":{"d":"\\u00e9","c":[1,2]},"a":1}', '\n{ "a": 1e0, "b": {"c": [1, 2], "d": "é"} }\n']) {
      expect(await write(same)).toMatchObject({ status: 201, body: first.body });
    }
    for (const other of ['{"a":1,"b":{"c":[2,1],"d":"é"}}', '{"a":"1","b":{"c":[1,2],"d":"é"}}', '{"a":1}', '']) {
      expect(await write(other)).toMatchObject(reused);
    }
  });

  test('409 IDEMPOTENCY_KEY_REUSED with another body, query, method or If-Match', async () => {
    const key = newKey();
    const { body } = await create(newKey(), { n: 1 });
    const first = { method: 'PATCH', params: { id: String(body._id) }, body: { n: 2 } };
    expect((await send(updateDocument, key, first as Sent)).status).toBe(200);
    const others = [
      [updateDocument, { ...first, body: { n: 3 } }],
      [updateDocument, { ...first, method: 'PUT' }],
      [updateDocument, { ...first, query: 'a=b' }],
      [updateDocument, { ...first, headers: { 'if-match': '"1"' } }],
      [createDocument, { body: { n: 2 } }],
    ] as const;
    for (const [handler, other] of others) expect(await send(handler, key, other as Sent)).toMatchObject(reused);
    expect(await stored({ _id: new ObjectId(String(body._id)) })).toMatchObject([{ n: 2 }]);
  });

  test('200 with the first ETag when an update with If-Match is retried after a newer revision', async () => {
    const { body } = await create(newKey(), { n: 1 });
    const [key, params] = [newKey(), { id: String(body._id) }];
    const update = { method: 'PATCH', params, body: { n: 2 }, headers: { 'if-match': '"1"' } } as Sent;
    const first = await send(updateDocument, key, update);
    expect([first.status, first.headers.get('etag')]).toEqual([200, '"2"']);
    await send(updateDocument, newKey(), { method: 'PATCH', params, body: { n: 3 } } as Sent);
    const again = await send(updateDocument, key, update);
    expect([again.status, again.headers.get('etag'), again.body]).toEqual([200, '"2"', first.body]);
  });

  test('409 IDEMPOTENCY_KEY_REUSED for another document of the same collection', async () => {
    const headers = { 'idempotency-key': newKey() };
    const paths = await Promise.all(
      [1, 2].map(async (n) => `/api/data/notes/${(await create(newKey(), { n })).body._id}`),
    );
    const [one = '', other = ''] = paths;
    expect((await project.api('PATCH', one, { body: { n: 3 }, headers })).status).toBe(200);
    expect(await project.api('PATCH', other, { body: { n: 3 }, headers })).toMatchObject(reused);
  });

  test('each caller has separate keys: each user, and the secret key, also after its rotation', async () => {
    const own = await newProject([{ name: 'todos', rls: mine }]);
    const idempotencyKey = newKey();
    const add = (key: string, token?: string) =>
      send(createDocument, idempotencyKey, {
        body: { task: 'x' },
        params: { collectionName: 'todos' },
        key,
        ...(token !== undefined && { token }),
      });
    const made = [
      await add(own.secretKey),
      await add(own.publishableKey, await own.tokenFor('ada')),
      await add(own.publishableKey, await own.tokenFor('alan')),
    ];
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(made.map(({ body: { _id } }) => _id)).size).toBe(3);
    const again = await add(own.publishableKey, await own.tokenFor('ada'));
    expect(again).toMatchObject({ status: 201, body: made[1]?.body ?? {} });
    const path = `/api/projects/${own.id}/keys/rotate`;
    const rotated = await own.developer.dashboard<{ data: { key: string } }>('POST', path, { type: 'secret' });
    forgetProjects();
    expect(await add(rotated.body.data.key)).toMatchObject({ status: 201, body: made[0]?.body ?? {} });
  });

  test('400, 404 and 409 are stored too, with the original request id; 401 is not', async () => {
    const [key, code] = [newKey(), newKey()];
    const refused = await send(createDocument, key, { body: 'text' });
    expect(refused.status).toBe(400);
    expect(await send(createDocument, key, { body: 'text' })).toMatchObject({ status: 400, body: refused.body });
    expect(await send(createDocument, key, { body: {} })).toMatchObject(reused);
    const clash = newKey();
    await create(newKey(), { code }, 'coupons');
    const taken = await create(clash, { code }, 'coupons');
    expect(taken).toMatchObject({ status: 409, body: { code: 'DUPLICATE_VALUE' } });
    await onProject(await domainProject(project), (db) => db.collection('coupons').deleteMany({ code }));
    expect(await create(clash, { code }, 'coupons')).toMatchObject({ status: 409, body: taken.body });
    const missing = { method: 'DELETE', params: { id: '0'.repeat(24) } } as Sent;
    const gone = newKey();
    expect((await send(deleteDocument, gone, missing)).status).toBe(404);
    expect((await send(deleteDocument, gone, missing)).headers.get('idempotent-replayed')).toBe('true');
    const user = newKey();
    const todo = { params: { collectionName: 'todos' }, body: { task: 'y' }, key: project.publishableKey };
    expect((await send(createDocument, user, todo)).status).toBe(401);
    const token = await project.tokenFor('grace');
    expect((await send(createDocument, user, { ...todo, token })).status).toBe(201);
  });

  test('201 for a new document when 24 hours have passed by the item’s own time', async () => {
    const [key, mark] = [newKey(), newKey()];
    const first = await create(key, { mark });
    later(24 * 3600 - 60);
    expect(await create(key, { mark })).toMatchObject({ status: 201, body: first.body });
    later(24 * 3600 + 60);
    expect((await create(key, { mark })).body._id).not.toBe(first.body._id);
    expect(await stored({ mark })).toHaveLength(2);
  });

  test('responses of all sizes are returned complete, the large ones from the bucket', async () => {
    for (const size of [10, 60_000, 70_000, 900_000]) {
      const [key, body] = [newKey(), { text: 'ä"\\'.repeat(size / 6) }];
      const first = await create(key, body);
      expect(first.status).toBe(201);
      const repeated: unknown[] = [];
      const commands = await commandsOf(async () => repeated.push((await create(key, body)).body));
      expect(repeated).toEqual([first.body]);
      expect(commands.includes('s3 GetObjectCommand')).toBe(size > 65_536);
    }
  });

  test.each(['', ' ', 'x'.repeat(256), 'ü', 'a b', 'a\u0000b', 'a\nb', 'a\r\nb'])(
    '400 VALIDATION_FAILED for the key %j',
    async (key) => {
      const mark = newKey();
      expect(await create(key, { mark })).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED', errors: [{ field: 'Idempotency-Key' }] },
      });
      expect(await stored({ mark })).toEqual([]);
    },
  );

  test('aggregate validates the key and otherwise ignores it', async () => {
    const ask = (key: string, n: number) =>
      project.api('POST', '/api/data/notes/aggregate', {
        headers: { 'idempotency-key': key },
        body: { pipeline: [{ $limit: n }] },
      });
    const key = newKey();
    expect([(await ask(key, 1)).status, (await ask(key, 2)).status]).toEqual([200, 200]);
    expect(await ask('x'.repeat(256), 1)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });

  test('a write succeeds when the first response of the table is lost', async () => {
    const [key, mark] = [newKey(), newKey()];
    loseFirstAnswers();
    const first = await create(key, { mark });
    expect(first.status).toBe(201);
    expect(await create(key, { mark })).toMatchObject({ status: 201, body: first.body });
    expect(await stored({ mark })).toHaveLength(1);
  });
});

describe('a run that ends without a response', () => {
  test('503 for an insert: a retry creates the document or finds it', async () => {
    const insert = Collection.prototype.insertOne;
    for (const arrives of [false, true]) {
      const [key, mark] = [newKey(), newKey()];
      vi.spyOn(Collection.prototype, 'insertOne').mockImplementationOnce(async function lost(this: Collection, doc) {
        if (arrives) await insert.call(this, doc);
        throw new MongoNetworkError('cut');
      });
      expect((await create(key, { mark })).status).toBe(503);
      expect(await create(key, { mark, other: true })).toMatchObject(reused);
      expect(await create(key, { mark })).toMatchObject({ status: 201, body: { mark } });
      expect(await stored({ mark })).toHaveLength(1);
    }
  });

  test('503 for an update with an unknown outcome, so 409 IDEMPOTENCY_OUTCOME_UNKNOWN', async () => {
    const { body } = await create(newKey(), { n: 1 });
    const key = newKey();
    const update = { method: 'PATCH', params: { id: String(body._id) }, body: { n: 2 } } as Sent;
    vi.spyOn(Collection.prototype, 'findOneAndUpdate').mockRejectedValueOnce(new MongoNetworkError('cut'));
    expect((await send(updateDocument, key, update)).status).toBe(503);
    for (let times = 0; times < 2; times++) expect(await send(updateDocument, key, update)).toMatchObject(unknown);
    expect(await stored({ _id: new ObjectId(String(body._id)) })).toMatchObject([{ n: 1 }]);
  });

  test('409 IDEMPOTENCY_IN_PROGRESS while a function could still run; then 50 concurrent retries create one document', async () => {
    const [key, mark] = [newKey(), newKey()];
    killAfter(2);
    expect((await create(key, { mark })).status).toBe(500);
    vi.restoreAllMocks();
    expect(await create(key, { mark })).toMatchObject(inProgress);
    later(36);
    await oneAnswer(201, () => create(key, { mark }));
    expect(await stored({ mark })).toHaveLength(1);
  });

  test('a retry finds the stored documents of a bulk and inserts the missing ones', async () => {
    const marks = Array.from({ length: 3 }, newKey);
    const bodies = marks.map((mark) => ({ mark }));
    const key = newKey();
    // The function responds, but dies before it stores the response.
    killAfter(4);
    expect((await send(createDocuments, key, { body: bodies })).status).toBe(201);
    vi.restoreAllMocks();
    const [kept, ...gone] = await stored({ mark: { $in: marks } });
    expect(gone).toHaveLength(2);
    await onProject(await domainProject(project), (db) =>
      db.collection('notes').deleteMany({ _id: { $in: gone.map(({ _id }) => _id) } }),
    );
    later(36);
    const again = await send(createDocuments, key, { body: bodies });
    expect(again).toMatchObject({ status: 201, body: { data: { insertedCount: 3 } } });
    const { ids } = (again.body as { data: { ids: string[] } }).data;
    expect(ids).toContain(String(kept?._id));
    expect((await stored({ mark: { $in: marks } })).map(({ _id }) => String(_id)).sort()).toEqual([...ids].sort());
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN for an insert when its document has become a tombstone of the feed', async () => {
    const params = { collectionName: 'fed' };
    for (const [handler, body] of [
      [createDocument, { mark: newKey() }],
      [createDocuments, [{ mark: newKey() }, { mark: newKey() }]],
    ] as const) {
      const key = newKey();
      const changesBefore = Array.isArray(body) ? 4 : 3;
      killAfter(changesBefore);
      expect((await send(handler, key, { body, params })).status).toBe(201);
      vi.restoreAllMocks();
      const [first] = await stored({ $or: [body].flat() }, 'fed');
      const id = String(first?._id);
      const deletion = { method: 'DELETE', params: { ...params, id }, query: 'permanent=true' } as Sent;
      expect((await send(deleteDocument, newKey(), deletion)).status).toBe(200);
      later(36);
      for (let times = 0; times < 2; times++) expect(await send(handler, key, { body, params })).toMatchObject(unknown);
      expect(await stored({ _id: first?._id }, 'fed')).toMatchObject([{ _gone: true, _rev: 2 }]);
      vi.restoreAllMocks();
    }
  });
});
