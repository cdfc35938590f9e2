import { Db, type Document as MongoDocument, ObjectId, ReadPreference, Timestamp } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as getDocument } from '../../../functions/data/get-document.ts';
import { handler as listChanges } from '../../../functions/data/list-changes.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as restoreDocument } from '../../../functions/data/restore-document.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { noRowSecurity } from '../../../shared/collections/collection.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import { emptyTrash } from '../../../shared/documents/store/empty-trash.ts';
import { purgeProject } from '../../../shared/documents/store/purge.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { type OwnDatabase, startOwnDatabase } from '../../support/fixtures/own-database.ts';
import { connectOwn, serveVerifiers } from '../../support/fixtures/own-project.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '1000000', RATE_BLOCK: '1' });

type Handler = Parameters<typeof invoke>[0];
interface Page {
  readonly changes: readonly {
    readonly _id: unknown;
    readonly rev: number;
    readonly deleted?: true;
    readonly document?: object;
  }[];
  readonly next: string;
  readonly more: boolean;
}

let own: OwnDatabase;
let stopVerifiers: () => Promise<void>;
let external: TestProject;
let managed: TestProject;

const connect = async (project: TestProject, database: string, options = ''): Promise<void> => {
  const answer = await connectOwn(project, own.uri(database, options));
  if (answer.status !== 200) throw new Error(`connecting answered ${JSON.stringify(answer.body)}`);
};

beforeAll(async () => {
  own = await startOwnDatabase();
  stopVerifiers = await serveVerifiers();
  external = await newProject(['fed', 'huge', 'emptied'].map((name) => ({ name, changes: true })));
  managed = await newProject([{ name: 'notes', changes: true }]);
  await connect(external, 'own');
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(async () => {
  await stopVerifiers();
  await own.stop();
});

const stored = (collection: string, database = 'own') => own.client.db(database).collection<MongoDocument>(collection);

const ask = (project: TestProject, handler: Handler, { params, ...options }: InvokeOptions = {}) =>
  invoke(handler, { key: project.secretKey, params: { collectionName: 'fed', ...params }, ...options });
const read = (project: TestProject, query: string, collectionName = 'fed') =>
  ask(project, listChanges, { query, params: { collectionName } });
const pageOf = ({ body }: Awaited<ReturnType<typeof read>>) => body.data as Page;
const changes = async (since: string, collectionName = 'fed', project = external): Promise<Page> => {
  const answer = await read(project, `since=${since}`, collectionName);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return pageOf(answer);
};
const now = async (collectionName = 'fed', project = external): Promise<string> =>
  pageOf(await read(project, '', collectionName)).next;
const create = async (project: TestProject, body: object = {}, collectionName = 'fed'): Promise<string> =>
  String((await ask(project, createDocument, { body, params: { collectionName } })).body._id);
const brief = ({ changes: all }: Page) => all.map(({ _id, rev, deleted }) => [_id, rev, ...(deleted ? ['gone'] : [])]);
const later = (ms: number): void => {
  vi.spyOn(clock, 'now').mockReturnValue(Date.now() + ms);
  forgetProjects();
};

describe('the changes of a collection in the project’s own database', () => {
  test('200 with writes through the service, tombstones included, but not with external writes', async () => {
    const since = await now();
    const [a, b] = [await create(external, { n: 1 }), await create(external, { n: 2 })];
    const theirs = new ObjectId();
    await stored('fed').insertMany([
      { _id: theirs, n: 3 },
      { _id: 'odd' as never, _pos: 'x', _gone: 'y' },
    ]);
    await ask(external, updateDocument, { params: { id: a }, body: { n: 4 } });
    const gone = await ask(external, deleteDocument, { params: { id: b }, query: 'permanent=true' });
    expect(gone.status).toBe(200);
    const page = await changes(since);
    expect(brief(page)).toEqual([
      [a, 2],
      [b, 2, 'gone'],
    ]);
    expect(page.changes[0]?.document).toMatchObject({ _id: a, n: 4 });
    expect(Object.keys((await stored('fed').findOne({ _id: new ObjectId(b) })) ?? {}).sort()).toEqual(
      ['_gone', '_id', '_pos', '_rev', 'deletedAt', 'isDeleted'].sort(),
    );
    const params = { id: theirs.toHexString() };
    const changed = await ask(external, updateDocument, { params, body: { n: 5 }, headers: { 'if-match': '"0"' } });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"1"']);
    expect(brief(await changes(page.next))).toEqual([[theirs.toHexString(), 1]]);
    const listed = await ask(external, listDocuments, { query: 'include_deleted=true' });
    expect((listed.body.data as { items: unknown[] }).items).toHaveLength(2);
  });

  test('cost the same as in a hosted database', async () => {
    const ids = new Map<TestProject, string>();
    const nameOf = (project: TestProject) => (project === external ? 'fed' : 'notes');
    for (const project of [external, managed]) ids.set(project, await create(project, {}, nameOf(project)));
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    const steps: readonly (readonly [Handler, InvokeOptions])[] = [
      [listChanges, { query: 'since=0' }],
      [listChanges, {}],
      [createDocument, { body: {} }],
      [updateDocument, { body: { n: 1 } }],
      [updateDocument, { body: { n: 2 }, headers: { 'if-match': '"2"' } }],
      [deleteDocument, {}],
      [restoreDocument, {}],
      [deleteDocument, { query: 'permanent=true' }],
    ];
    const run = (project: TestProject, [handler, options]: (typeof steps)[number]) => {
      const params = { collectionName: nameOf(project), id: ids.get(project) ?? '' };
      return commandsOf(async () => {
        expect((await ask(project, handler, { params, ...options })).status).toBeLessThan(300);
      });
    };
    for (const project of [external, managed]) await read(project, 'since=0', nameOf(project));
    for (const step of steps) expect(await run(external, step)).toEqual(await run(managed, step));
  });

  test('are read from the primary with majority read concern when the URI prefers another', async () => {
    const project = await newProject([{ name: 'fed', changes: true }]);
    await connect(project, 'preferring', 'readPreference=secondary&readConcernLevel=local&directConnection=true');
    const id = await create(project);
    const command = vi.spyOn(Db.prototype, 'command');
    expect(brief(await changes('0', 'fed', project))).toEqual([[id, 1]]);
    expect((await ask(project, listDocuments)).status).toBe(200);
    const finds = command.mock.calls.filter(([{ find }]) => find === 'fed');
    expect(finds.map(([, options]) => ReadPreference.fromOptions(options)?.mode)).toEqual(['primary', 'secondary']);
    expect(finds.map(([{ readConcern }]) => readConcern)).toMatchObject([{ level: 'majority' }, { level: 'local' }]);
  });

  test('400 INVALID_POSITION after the project moved; the feed of the new database starts from the beginning', async () => {
    const project = await newProject([{ name: 'fed', changes: true }]);
    const before = await create(project);
    const ours = pageOf(await read(project, 'since=0')).next;
    await connect(project, 'moved');
    const moved = { status: 400, body: { code: 'INVALID_POSITION' } };
    expect(await read(project, `since=${ours}`)).toMatchObject(moved);
    expect((await changes('0', 'fed', project)).changes).toEqual([]);
    const there = await create(project);
    const page = await changes('0', 'fed', project);
    expect(brief(page)).toEqual([[there, 1]]);
    const indexes = await stored('fed', 'moved').indexes();
    expect(indexes.map(({ name }) => name)).toContain('basalt_changes');
    const back = await project.developer.dashboard('DELETE', `/api/projects/${project.id}/database`);
    expect(back.status).toBe(200);
    later(5001);
    expect(await read(project, `since=${page.next}`)).toMatchObject(moved);
    expect((await changes(ours, 'fed', project)).changes).toEqual([]);
    expect(brief(await changes('0', 'fed', project))).toEqual([[before, 1]]);
  });

  test('409 while the feed’s index is missing, 503 while the database is down; later no change is missed', async () => {
    const since = await now();
    const id = await create(external, { n: 1 });
    await stored('fed').dropIndex('basalt_changes');
    expect(await read(external, `since=${since}`)).toMatchObject({
      status: 409,
      body: { code: 'CHANGES_NOT_ENABLED' },
    });
    await stored('fed').createIndex({ _pos: 1 }, { name: 'basalt_changes' });
    expect(brief(await changes(since))).toEqual([[id, 1]]);
    await own.proxy.refuse();
    try {
      expect(await read(external, `since=${since}&wait=20`)).toMatchObject({
        status: 503,
        body: { code: 'OWN_DATABASE_UNAVAILABLE' },
      });
    } finally {
      await own.proxy.heal();
    }
    await expect.poll(async () => (await read(external, `since=${since}`)).status).toBe(200);
    expect(brief(await changes(since))).toEqual([[id, 1]]);
  });

  test('wait for at most 15 s, while a hosted database waits longer', async () => {
    const [theirs, ours] = [await now(), await now('notes', managed)];
    // The clock is stopped, so on a slow machine the longer wait cannot end first.
    const begun = performance.now();
    let passed = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => begun + passed);
    let answered = false;
    const waiting = read(managed, `since=${ours}&wait=20`, 'notes').finally(() => {
      answered = true;
    });
    const capped = read(external, `since=${theirs}&wait=20`);
    // Both have checked at least once when a later read of each feed has returned.
    await Promise.all([now(), now('notes', managed)]);
    passed = 15_100;
    expect(pageOf(await capped)).toMatchObject({ changes: [], more: false });
    expect(answered).toBe(false);
    const id = await create(managed, {}, 'notes');
    expect(brief(pageOf(await waiting))).toEqual([[id, 1]]);
  });

  test('200 with wait as soon as a change exists', async () => {
    const since = await now();
    const waiting = read(external, `since=${since}&wait=15`);
    const id = await create(external);
    expect(brief(pageOf(await waiting))).toEqual([[id, 1]]);
  });

  test('400 when an external write made a document too large for a response', async () => {
    const since = await now('huge');
    const id = await create(external, { n: 1 }, 'huge');
    await stored('huge').updateOne({ _id: new ObjectId(id) }, { $set: { text: '\u0001'.repeat(1_500_000) } });
    expect(await read(external, `since=${since}`, 'huge')).toMatchObject({
      status: 400,
      body: { code: 'RESULT_TOO_LARGE' },
    });
    await ask(external, deleteDocument, { params: { collectionName: 'huge', id } });
    expect(brief(await changes(since, 'huge'))).toEqual([[id, 2, 'gone']]);
  });

  test('contain ids of every type when an emptied trash removes the documents, and the purge removes them after 30 days', async () => {
    const since = await now('emptied');
    const ids = ['a name', 7, { a: 1 }, new ObjectId()];
    const deletedAt = new Date(Date.now() - 1000);
    await stored('emptied').insertMany(
      ids.map((_id) => ({ _id: _id as never, isDeleted: true, deletedAt, text: 'x' })),
    );
    const project = await domainProject(external);
    const feed = { on: true, from: new Date(0), readyAt: new Date(0) };
    const collection = { name: 'emptied', rls: noRowSecurity, feed };
    expect(await emptyTrash(project, collection)).toEqual({ removed: 4, complete: true });
    const page = await changes(since, 'emptied');
    const told = page.changes.map(({ _id, deleted }) => [_id, deleted]);
    expect(told).toEqual(expect.arrayContaining(ids.map((id) => [id instanceof ObjectId ? String(id) : id, true])));
    expect(told).toHaveLength(4);
    for (const tombstone of await stored('emptied').find().toArray()) {
      expect(tombstone).toMatchObject({ _gone: true, _rev: 1, _pos: expect.any(Timestamp) });
      expect(tombstone).not.toHaveProperty('text');
    }
    later(31 * 86_400_000);
    await purgeProject(project);
    expect(await stored('emptied').countDocuments()).toBe(0);
  });
});

describe('If-Match in the project’s own database', () => {
  test('200 for one of 50 concurrent updates, 412 for the others, and one change', async () => {
    const id = await create(external, { n: 0 });
    const since = await now();
    const answers = await inParallel(50, (n) =>
      ask(external, updateDocument, { params: { id }, body: { n }, headers: { 'if-match': '"1"' } }),
    );
    expect(tally(answers)).toEqual({ 200: 1, 412: 49 });
    for (const { status, headers } of answers) expect([status, headers.get('etag')]).toEqual([status, '"2"']);
    expect(brief(await changes(since))).toEqual([[id, 2]]);
    const same = await ask(external, getDocument, { params: { id }, headers: { 'if-none-match': '"2"' } });
    expect([same.status, same.headers.get('etag')]).toEqual([304, '"2"']);
    const late = { params: { id }, headers: { 'if-match': '"1"' } };
    for (const query of ['', 'permanent=true']) {
      expect(await ask(external, deleteDocument, { ...late, query })).toMatchObject({
        status: 412,
        body: { code: 'REVISION_MISMATCH' },
      });
    }
    const current = { params: { id }, headers: { 'if-match': '"2"' }, query: 'permanent=true' };
    expect((await ask(external, deleteDocument, current)).status).toBe(200);
    expect(brief(await changes(since))).toEqual([[id, 3, 'gone']]);
  });
});
