import { type Document as MongoDocument, ObjectId, Timestamp } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { handler as createCollection } from '../../../functions/dashboard/collections/create-collection.ts';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as listChangesHandler } from '../../../functions/data/list-changes.ts';
import { handler as restoreDocument } from '../../../functions/data/restore-document.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { purgeProject } from '../../../shared/documents/store/purge.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel, type RequestOptions, tally } from '../../support/clients/client.ts';
import { plansOf } from '../../support/clients/explain.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { addTrashed } from '../../support/fixtures/trash.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '1000000', RATE_BLOCK: '1' });

const annId = 'a'.repeat(24);
const bobId = 'b'.repeat(24);
const realNow = clock.now;

let project: TestProject;
let domain: Project;
let ann: RequestOptions;
let bob: RequestOptions;

beforeAll(async () => {
  project = await newProject([{ name: 'quiet' }]);
  domain = await domainProject(project);
  const key = project.publishableKey;
  ann = { key, token: await project.tokenFor(annId) };
  bob = { key, token: await project.tokenFor(bobId) };
});

afterEach(() => {
  clock.now = realNow;
});

interface Change {
  readonly _id: string;
  readonly rev: number;
  readonly deleted?: true;
  readonly document?: Record<string, unknown>;
}
interface Page {
  readonly changes: readonly Change[];
  readonly next: string;
  readonly more: boolean;
}

let made = 0;

/** Adds a separate collection with a feed. */
const fed = async (more: object = {}): Promise<string> => {
  const name = `fed${++made}`;
  await project.addCollection({ name, changes: true, ...more });
  return name;
};

const send = <B = { _id: string }>(method: string, path: string, options: RequestOptions = {}) =>
  project.api<B>(method, `/api/data/${path}`, options);
const create = async (name: string, body: object = {}, options: RequestOptions = {}): Promise<string> =>
  (await send('POST', name, { ...options, body })).body._id;
const ask = (name: string, query: string, options: RequestOptions = {}) =>
  send<{ data: Page; code: string; message: string }>('GET', `${name}/changes?${query}`, options);
const changes = async (name: string, since: string, query = '', options: RequestOptions = {}): Promise<Page> => {
  const answer = await ask(name, `since=${since}${query}`, options);
  expect(answer).toMatchObject({ status: 200, body: { success: true, message: 'Changes fetched' } });
  return answer.body.data;
};
const now = async (name: string, options: RequestOptions = {}): Promise<string> => {
  const { data } = (await ask(name, '', options)).body;
  expect(data).toEqual({ changes: [], next: expect.any(String), more: false });
  return data.next;
};
const stored = (name: string, id: string): Promise<MongoDocument | null> =>
  onProject(domain, (db) => db.collection(name).findOne({ _id: new ObjectId(id) }));
/** The same requests in this process. */
const read = (name: string, query: string, options: RequestOptions = { key: project.secretKey }) =>
  invoke(listChangesHandler, { ...options, params: { collectionName: name }, query });
const brief = ({ changes: all }: Page) => all.map(({ _id, rev, deleted }) => [_id, rev, ...(deleted ? ['gone'] : [])]);

describe('the changes of a collection', () => {
  test('200 with each changed document once, in its latest state, ordered by last change', async () => {
    const name = await fed();
    const since = await now(name);
    const [a, b, c] = [await create(name, { n: 1 }), await create(name, { n: 2 }), await create(name, { n: 3 })];
    await send('PATCH', `${name}/${a}`, { body: { n: 4 } });
    await send('PATCH', `${name}/${a}`, { body: { 'in.n': 5 } });
    await send('DELETE', `${name}/${b}`);
    const page = await changes(name, since);
    expect(brief(page)).toEqual([
      [c, 1],
      [a, 3],
      [b, 2, 'gone'],
    ]);
    expect(page.changes[1]?.document).toEqual((await send('GET', `${name}/${a}`)).body);
    expect(page.changes[2]).toEqual({ _id: b, rev: 2, deleted: true });
    expect(page.more).toBe(false);
    expect((await changes(name, page.next)).changes).toEqual([]);
    await send('PATCH', `${name}/${b}/recover`);
    await send('DELETE', `${name}/${c}?permanent=true`);
    const after = await changes(name, page.next);
    expect(brief(after)).toEqual([
      [b, 3],
      [c, 2, 'gone'],
    ]);
    expect(brief(await changes(name, '0'))).toEqual([
      [a, 3],
      [b, 3],
      [c, 2, 'gone'],
    ]);
    expect(JSON.stringify([page, after])).not.toMatch(/_rev|_pos|_gone|_fuse/);
  });

  test('200 with bulk writes, the data browser and the undone inserts of a failed bulk', async () => {
    const name = await fed({ schema: [{ key: 'slug', type: 'String', unique: true }] });
    const bulk = (...slugs: string[]) =>
      send<{ data: { ids: string[] } }>('POST', `${name}/bulk`, { body: slugs.map((slug) => ({ slug })) });
    const { ids } = (await bulk('a', 'b')).body.data;
    expect(brief(await changes(name, '0'))).toEqual(ids.map((id) => [id, 1]));
    const { next } = await changes(name, '0');
    expect((await bulk('c', 'a')).status).toBe(409);
    // A reader may have seen the documents written before the conflict, so the feed reports their deletion or never
    // showed them.
    for (const change of (await changes(name, next)).changes) expect(change).toMatchObject({ rev: 2, deleted: true });
    const { dashboard } = project.developer;
    const path = `/api/projects/${project.id}/collections/${name}`;
    const at = await now(name);
    const browsed = await dashboard<{ data: { _id: string } }>('POST', `${path}/documents`, { slug: 'd' });
    await dashboard('DELETE', `${path}/documents/${ids[0]}`);
    await dashboard('DELETE', `${path}/documents/${ids[1]}`);
    await dashboard('POST', `${path}/trash/${ids[1]}/restore`);
    expect(brief(await changes(name, at))).toEqual([
      [browsed.body.data._id, 1],
      [ids[0], 2, 'gone'],
      [ids[1], 3],
    ]);
  });

  test('200 page by page without duplicates, up to 1000', async () => {
    const name = await fed();
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const body = Array.from({ length: 7 }, (_, at) => ({ n: n * 7 + at }));
      ids.push(...(await send<{ data: { ids: string[] } }>('POST', `${name}/bulk`, { body })).body.data.ids);
    }
    const seen: string[] = [];
    let page = await changes(name, '0', '&limit=4');
    for (;;) {
      seen.push(...page.changes.map(({ _id }) => _id));
      if (!page.more) break;
      expect(page.changes).toHaveLength(4);
      page = await changes(name, page.next, '&limit=4');
    }
    expect(seen).toEqual(ids);
    expect((await changes(name, '0', '&limit=100000')).changes).toHaveLength(21);
    for (const limit of ['0', '-1', '1.5', 'x', '']) {
      expect(await ask(name, `since=0&limit=${limit}`)).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
    }
  });

  test('200 with a page that ends at 5 MiB, and the rest on the next page', async () => {
    const name = await fed();
    for (let n = 0; n < 7; n += 1) await create(name, { text: 'x'.repeat(1_000_000) });
    const first = await changes(name, '0');
    expect([first.changes.length, first.more]).toEqual([5, true]);
    const rest = await changes(name, first.next);
    expect([rest.changes.length, rest.more]).toEqual([2, false]);
  });

  test('200 with a change once when it became visible after later ones', async () => {
    const name = await fed();
    await create(name, { n: 1 });
    const first = await changes(name, '0');
    // This write got its position earlier but becomes visible only now.
    const newest = (await stored(name, first.changes[0]?._id ?? ''))?._pos as Timestamp;
    const late = new Timestamp({ t: newest.t, i: 0 });
    const _id = new ObjectId();
    await onProject(domain, (db) => db.collection(name).insertOne({ _id, isDeleted: false, _rev: 1, _pos: late }));
    const second = await changes(name, first.next);
    expect(brief(second)).toEqual([[String(_id), 1]]);
    expect((await changes(name, second.next)).changes).toEqual([]);
  });

  test('200 with wait when a change arrives; repeated requests do not end the wait', async () => {
    const name = await fed();
    await create(name);
    const { next } = await changes(name, '0');
    const waiting = changes(name, next, '&wait=20');
    const id = await create(name, { n: 2 });
    expect(brief(await waiting)).toEqual([[id, 1]]);
    expect((await changes(name, next, '&wait=0')).changes).toHaveLength(1);
    expect((await ask(name, 'wait=20')).body.data.changes).toEqual([]);
    for (const wait of ['21', '-1', '1.5', 'x', '']) {
      expect(await ask(name, `since=${next}&wait=${wait}`)).toMatchObject({
        status: 400,
        body: { code: 'INVALID_QUERY' },
      });
    }
    expect(await ask(name, 'since=0&n=2')).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });

  test('409 without a feed; 401, 403 and 404 take precedence, as for a list', async () => {
    expect(await ask('quiet', '')).toMatchObject({ status: 409, body: { code: 'CHANGES_NOT_ENABLED' } });
    expect(await ask('nowhere', '')).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } });
    expect(await ask('users', '')).toMatchObject({ status: 403, body: { code: 'USERS_RESERVED' } });
    const name = await fed({ rls: { enabled: true, mode: 'private' } });
    const { publishableKey: key } = project;
    expect(await ask(name, 'since=forged', { key })).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
  });
});

describe('rights', () => {
  test('200 with only the caller’s changes in a private collection, tombstones included', async () => {
    const name = await fed({ rls: { enabled: true, mode: 'private' } });
    const [mine, others] = [await create(name, { n: 1 }, ann), await create(name, { n: 2 }, bob)];
    const nobodys = await create(name, { n: 3 });
    const at = { ann: await now(name, ann), bob: await now(name, bob) };
    await send('DELETE', `${name}/${mine}?permanent=true`, ann);
    await send('DELETE', `${name}/${others}`, bob);
    await send('PATCH', `${name}/${nobodys}`, { body: { userId: annId } });
    expect(brief(await changes(name, at.ann, '', ann))).toEqual([
      [mine, 2, 'gone'],
      [nobodys, 2],
    ]);
    expect(brief(await changes(name, at.bob, '', bob))).toEqual([[others, 2, 'gone']]);
    expect(brief(await changes(name, '0', '', bob))).toEqual([[others, 2, 'gone']]);
    expect(brief(await changes(name, '0'))).toEqual([
      [mine, 2, 'gone'],
      [others, 2, 'gone'],
      [nobodys, 2],
    ]);
  });

  test('400 INVALID_POSITION for the position of another user, key, collection or project; shared when all may read', async () => {
    const [hidden, open] = [await fed({ rls: { enabled: true, mode: 'private' } }), await fed()];
    const elsewhere = await newProject([{ name: open, changes: true }]);
    const foreign = (await elsewhere.api<{ data: Page }>('GET', `/api/data/${open}/changes`)).body.data.next;
    const positions = [await now(hidden, ann), await now(hidden), await now(open), foreign];
    for (const [since, name, options] of [
      [positions[0], hidden, bob],
      [positions[0], hidden, {}],
      [positions[1], hidden, ann],
      [positions[2], hidden, {}],
      [positions[0], open, ann],
      [positions[3], open, {}],
    ] as const) {
      expect(await ask(name, `since=${since}`, options)).toMatchObject({
        status: 400,
        body: { code: 'INVALID_POSITION' },
      });
    }
    for (const options of [ann, bob, {}, { key: project.publishableKey }]) {
      expect((await changes(open, positions[2] ?? '', '', options)).changes).toEqual([]);
    }
  });

  test('400 INVALID_POSITION for a malformed position or one with any changed bit', async () => {
    const name = await fed();
    await create(name);
    const { next } = await changes(name, '0');
    const bytes = Buffer.from(next, 'base64url');
    const changed = Array.from({ length: bytes.length }, (_, at) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 1;
      return copy.toString('base64url');
    });
    const forged = [
      '',
      '1',
      '-1',
      'x',
      '00',
      next.slice(0, -4),
      `${next}AAAA`,
      'A'.repeat(40),
      'A'.repeat(6000),
      '$gt',
    ];
    for (const since of [...changed, ...forged, encodeURIComponent('{"$gt":0}')]) {
      const answer = await ask(name, `since=${since}`);
      expect([since, answer.status, answer.body.code]).toEqual([since, 400, 'INVALID_POSITION']);
    }
  });
});

describe('the feed', () => {
  const path = (name: string) => `/api/projects/${project.id}/collections/${name}`;
  /** Waits for the next second, because some times are stored in whole seconds. */
  const nextSecond = (second = Math.floor(Date.now() / 1000)) =>
    expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(second);
  const edit = (name: string, body: object) =>
    project.developer.dashboard<{ data: Record<string, unknown>; code: string }>('PUT', path(name), body);

  test('is off at first, can be switched on and off, and starts when it is switched on', async () => {
    await project.addCollection({ name: 'late' });
    const old = await create('late', { n: 1 });
    expect((await project.developer.dashboard('GET', path('late'))).body.data).toMatchObject({ changes: false });
    const on = await edit('late', { changes: true });
    expect(on).toMatchObject({ status: 200, body: { data: { changes: true, schema: null } } });
    const ready = () => expect.poll(() => ask('late', 'since=0').then(({ status }) => status)).toBe(200);
    await ready();
    expect((await changes('late', '0')).changes).toEqual([]);
    await send('PATCH', `late/${old}`, { body: { n: 2 } });
    const { next, changes: all } = await changes('late', '0');
    expect(all).toMatchObject([{ _id: old, rev: 2 }]);
    // Editing another setting leaves the feed on.
    expect(await edit('late', { rls: { enabled: false } })).toMatchObject({ body: { data: { changes: true } } });
    expect((await changes('late', next)).changes).toEqual([]);
    expect(await edit('late', { changes: false })).toMatchObject({ body: { data: { changes: false } } });
    await expect.poll(() => ask('late', `since=${next}`).then(({ status }) => status)).toBe(409);
    const { _pos: place } = (await stored('late', old)) ?? {};
    await send('PATCH', `late/${old}`, { body: { n: 3 } });
    expect(await stored('late', old)).toMatchObject({ _rev: 3, _pos: place });
    await nextSecond();
    await edit('late', { changes: true });
    await ready();
    expect(await ask('late', `since=${next}`)).toMatchObject({ status: 410, body: { code: 'POSITION_GONE' } });
    expect((await changes('late', '0')).changes).toEqual([]);
  });

  test('410 for a position from before the feed was off, however far MongoDB’s clock is ahead', async () => {
    const name = await fed();
    const id = await create(name);
    const ahead = new Timestamp({ t: Math.floor(Date.now() / 1000) + 60, i: 1 });
    await onProject(domain, (db) =>
      db.collection(name).updateOne({ _id: new ObjectId(id) }, { $set: { _pos: ahead } }),
    );
    const { next } = await changes(name, '0');
    await edit(name, { changes: false });
    await expect.poll(() => ask(name, '').then(({ status }) => status)).toBe(409);
    await nextSecond();
    await edit(name, { changes: true });
    await expect.poll(() => ask(name, '').then(({ status }) => status)).toBe(200);
    expect(await ask(name, `since=${next}`)).toMatchObject({ status: 410, body: { code: 'POSITION_GONE' } });
  });

  test('200 from the beginning of a new collection when the functions are ahead of MongoDB’s clock', async () => {
    clock.now = () => realNow() + 40_000;
    const body = { name: 'ahead', schema: null, changes: true };
    const options = { method: 'POST', token: project.developer.token, params: { projectId: project.id }, body };
    expect((await invoke(createCollection, options)).status).toBe(201);
    const since = ((await read('ahead', '')).body.data as Page).next;
    const made = await invoke(createDocument, {
      key: project.secretKey,
      params: { collectionName: 'ahead' },
      body: {},
    });
    for (const position of [since, '0']) {
      const page = (await read('ahead', `since=${position}`)).body.data as Page;
      expect(brief(page)).toEqual([[made.body._id, 1]]);
    }
  });

  test('400 for users, and for a value that is not a boolean', async () => {
    const base = `/api/projects/${project.id}/collections`;
    const schema = ['email', 'password'].map((key) => ({ key, type: 'String', required: true }));
    const { dashboard } = project.developer;
    expect(await dashboard('POST', base, { name: 'users', schema, changes: true })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SCHEMA' },
    });
    for (const changes of ['true', 1, null, {}]) {
      expect((await dashboard('POST', base, { name: 'odd', schema: null, changes })).status).toBe(400);
      expect((await edit('quiet', { changes })).status).toBe(400);
    }
  });

  test('400 INVALID_POSITION when the collection was recreated or made private', async () => {
    const name = await fed({ rls: { enabled: true } });
    const before = await now(name);
    await edit(name, { rls: { mode: 'private' } });
    await expect.poll(() => ask(name, `since=${before}`)).toMatchObject({ body: { code: 'INVALID_POSITION' } });
    const again = await fed();
    const since = await now(again);
    await project.developer.dashboard('DELETE', path(again));
    await project.addCollection({ name: again, changes: true });
    await expect.poll(() => ask(again, `since=${since}`)).toMatchObject({ body: { code: 'INVALID_POSITION' } });
  });

  test('410 POSITION_GONE after 30 days, when tombstones still stay for a while', async () => {
    const name = await fed();
    const begun = realNow();
    const since = await now(name);
    clock.now = () => begun + 30 * 86_400_000 - 5000;
    expect(await read(name, `since=${since}`)).toMatchObject({ status: 200 });
    clock.now = () => realNow() + 30 * 86_400_000 + 5000;
    expect(await read(name, `since=${since}`)).toMatchObject({ status: 410, body: { code: 'POSITION_GONE' } });
    expect(await read(name, 'since=0')).toMatchObject({ status: 200 });
  });
});

describe('a tombstone', () => {
  const tombstone = ['_id', 'isDeleted', 'deletedAt', '_rev', '_pos', '_gone'];

  test('keeps only its owner and appears only in the feed', async () => {
    const name = await fed({
      schema: [
        { key: 'slug', type: 'String', unique: true },
        { key: 'to', type: 'Ref', ref: `fed${made + 1}` },
      ],
      rls: { enabled: true },
    });
    const kept = await create(name, { slug: 'kept' }, ann);
    const id = await create(name, { slug: 'secret', to: kept }, ann);
    const pointing = await create(name, { to: id }, ann);
    expect(await send('DELETE', `${name}/${id}?permanent=true`, ann)).toMatchObject({
      status: 200,
      body: { data: { id }, message: 'Document permanently deleted' },
    });
    expect(await stored(name, id)).toEqual({
      _id: new ObjectId(id),
      userId: annId,
      isDeleted: true,
      deletedAt: expect.any(Date),
      _rev: 2,
      _pos: expect.any(Timestamp),
      _gone: true,
    });
    for (const [method, rest, body] of [
      ['GET', ''],
      ['GET', '?include_deleted=true'],
      ['PATCH', '', { slug: 'x' }],
      ['DELETE', ''],
      ['DELETE', '?permanent=true'],
      ['PATCH', '/recover'],
    ] as const) {
      const path = `${name}/${id}${rest.startsWith('/') ? rest : rest}`;
      for (const options of [{}, ann, bob]) {
        const answer = await send(method, path, { ...options, ...(body && { body }) });
        expect([method, rest, answer.status]).toEqual([method, rest, 404]);
      }
    }
    const list = async (query: string) =>
      (await send<{ data: { items: { _id: string }[]; total: number; count: number } }>('GET', `${name}?${query}`)).body
        .data;
    expect(await list('include_deleted=true')).toMatchObject({ total: 2, items: [{ _id: pointing }, { _id: kept }] });
    expect(await list('include_deleted=true&limit=1')).toMatchObject({ total: 2 });
    expect(await list('limit=1')).toMatchObject({ total: 2 });
    expect(await list('include_deleted=true&count=true')).toEqual({ count: 2 });
    expect(await list(`include_deleted=true&populate=to&_id=${pointing}`)).toMatchObject({ items: [{ to: null }] });
    const pipeline = [{ $lookup: { from: name, localField: 'to', foreignField: '_id', as: 'found' } }];
    const rows = await send<{ data: { found: object[] }[] }>('POST', `${name}/aggregate?include_deleted=true`, {
      body: { pipeline },
    });
    expect(rows.body.data.map(({ found }) => found.length)).toEqual([0, 0]);
    const trash = `/api/projects/${project.id}/collections/${name}/trash`;
    expect((await project.developer.dashboard('GET', trash)).body.data).toMatchObject({ items: [], total: 0 });
    expect((await project.developer.dashboard('DELETE', `${trash}/${id}`)).status).toBe(404);
    // Its unique value is available again.
    expect((await send('POST', name, { ...ann, body: { slug: 'secret' } })).status).toBe(201);
  });

  test('is created once when 50 delete concurrently, and one gets 200', async () => {
    const name = await fed();
    const since = await now(name);
    const ids = [await create(name, { text: 'a' }), await create(name, { text: 'b' })];
    // A revision that another program stored as a non-number counts from 0.
    await onProject(domain, (db) =>
      db.collection(name).updateOne({ _id: new ObjectId(ids[1]) }, { $set: { _rev: 'odd' } }),
    );
    for (const id of ids) {
      const answers = await inParallel(50, () => send('DELETE', `${name}/${id}?permanent=true`));
      expect(tally(answers)).toEqual({ 200: 1, 404: 49 });
      expect(Object.keys((await stored(name, id)) ?? {})).toEqual(tombstone);
    }
    expect(brief(await changes(name, since))).toEqual([
      [ids[0], 2, 'gone'],
      [ids[1], 1, 'gone'],
    ]);
  });

  test('is left once each by emptying the trash and by the purge, and is removed after 30 days', async () => {
    const name = await fed();
    const [a, b, c] = [await create(name), await create(name), await create(name)];
    for (const id of [a, b]) await send('DELETE', `${name}/${id}`);
    await onProject(domain, (db) => db.collection(name).updateOne({ _id: new ObjectId(b) }, { $set: { _rev: 'odd' } }));
    const since = await now(name);
    const trash = `/api/projects/${project.id}/collections/${name}/trash`;
    for (const removed of [2, 0]) {
      expect((await project.developer.dashboard('DELETE', trash)).body.data).toEqual({ removed, complete: true });
    }
    expect(brief(await changes(name, since)).sort()).toEqual(
      [
        [a, 3, 'gone'],
        [b, 1, 'gone'],
      ].sort(),
    );
    await send('DELETE', `${name}/${c}`);
    const later = await now(name);
    const day = 86_400_000;
    clock.now = () => realNow() + 31 * day;
    expect(await purgeProject(domain)).toMatchObject({ complete: true });
    expect(await stored(name, a)).toBeNull();
    expect(await stored(name, c)).toMatchObject({ _gone: true, _rev: 3 });
    clock.now = realNow;
    expect(brief(await changes(name, later))).toEqual([[c, 3, 'gone']]);
    clock.now = () => realNow() + 61.5 * day;
    await purgeProject(domain);
    expect(await stored(name, c)).toBeNull();
  });

  test('is cleared by the purge when a run died between its two commands', async () => {
    const name = await fed();
    const id = await create(name, { text: 'private' });
    await onProject(domain, (db) =>
      db
        .collection(name)
        .updateOne({ _id: new ObjectId(id) }, { $set: { isDeleted: true, deletedAt: new Date(), _gone: false } }),
    );
    expect((await send('GET', `${name}/${id}?include_deleted=true`)).status).toBe(404);
    await purgeProject(domain);
    expect(Object.keys((await stored(name, id)) ?? {})).toEqual(tombstone);
  });

  test('is cleared by the purge in batches when there are many', async () => {
    const name = await fed();
    const updates = async () =>
      (await commandsOf(() => purgeProject(domain))).filter((command) => command === 'mongodb update').length;
    const usual = await updates();
    await addTrashed(domain, name, 6000, 1, () => ({ text: 'private', _gone: false }));
    expect(await updates()).toBe(usual + 1);
    const text = { text: { $exists: true } };
    expect(await onProject(domain, (db) => db.collection(name).countDocuments(text))).toBe(0);
  });
});

describe('costs', () => {
  test('no write needs an extra command, and a page needs one find by the feed’s index', async () => {
    const name = await fed();
    const since = await now(name);
    const params = { collectionName: name };
    const mongo = async (act: () => Promise<unknown>) =>
      (await commandsOf(act)).filter((command) => command.startsWith('mongodb'));
    const run = (handler: Parameters<typeof invoke>[0], id?: string, options: object = {}) =>
      mongo(() => invoke(handler, { key: project.secretKey, params: { ...params, ...(id && { id }) }, ...options }));
    const id = await create(name);
    const frozen = realNow();
    clock.now = () => frozen;
    await run(createDocument, undefined, { body: {} });
    expect(await run(createDocument, undefined, { body: {} })).toEqual(['mongodb insert']);
    expect(await run(createDocuments, undefined, { body: [{}, {}] })).toEqual(['mongodb insert']);
    expect(await run(updateDocument, id, { body: { n: 1 } })).toEqual(['mongodb findAndModify']);
    expect(await run(deleteDocument, id)).toEqual(['mongodb findAndModify']);
    expect(await run(restoreDocument, id)).toEqual(['mongodb findAndModify']);
    // The find is needed for the live updates of the deletion.
    const deletion = await run(deleteDocument, id, { query: 'permanent=true' });
    expect(deletion).toEqual(['mongodb find', 'mongodb update']);
    expect(await run(listChangesHandler, undefined, { query: `since=${since}` })).toEqual(['mongodb find']);
    expect(await run(listChangesHandler)).toEqual(['mongodb find']);
    clock.now = realNow;
  });

  test('a page examines only the changes it returns, however many came before', async () => {
    const name = await fed({ rls: { enabled: true, mode: 'private' } });
    await inParallel(10, () =>
      send('POST', `${name}/bulk`, { ...bob, body: Array.from({ length: 100 }, (_, n) => ({ n })) }),
    );
    await create(name, { n: 1 }, ann);
    const { next } = await changes(name, '0', '&limit=1000');
    await create(name, { n: 2 }, ann);
    await create(name, { n: 3 }, bob);
    const [feed] = await plansOf(domain, () => read(name, `since=${next}`));
    expect(feed).toMatchObject({ command: 'find', docsExamined: 3 });
    expect(feed?.stages.join()).toContain('IXSCAN basalt_changes');
    expect(feed?.stages).not.toContain('SORT');
    const [own] = await plansOf(domain, () => read(name, 'since=0', ann));
    expect(own).toMatchObject({ command: 'find', docsExamined: 2 });
    expect(own?.stages.join()).toContain('IXSCAN basalt_changes_of_userId');
    expect(own?.stages).not.toContain('SORT');
  });

  test('a page examines as much in the middle of 10 000 changes as of 400', async () => {
    const begin = Math.floor(Date.now() / 1000) + 1;
    const placed = (n: number) => ({
      isDeleted: false,
      _rev: 1,
      _pos: new Timestamp({ t: begin + Math.floor(n / 10), i: 1 + (n % 10) }),
    });
    const seen: object[] = [];
    for (const [count, limit] of [
      [400, 100],
      [10_000, 1000],
    ] as const) {
      const name = await fed();
      const documents = Array.from({ length: count }, (_, n) => placed(n));
      await onProject(domain, (db) => db.collection(name).insertMany(documents), 60_000);
      let since = '0';
      for (let done = 0; done < count / 2; done += limit) since = (await changes(name, since, `&limit=${limit}`)).next;
      const [plan] = await plansOf(domain, () => read(name, `since=${since}&limit=20`));
      expect(plan).toMatchObject({ docsExamined: 21 });
      seen.push({ ...plan });
    }
    expect(seen[1]).toEqual(seen[0]);
    // The index skips the recent changes already returned, with at most one key each.
    expect((seen[0] as { keysExamined: number }).keysExamined).toBeLessThanOrEqual(21 + 2 * 110);
  });
});
