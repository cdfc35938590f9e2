import { beforeAll, describe, expect, test } from 'vitest';
import { listTrash } from '../../../shared/documents/store/trash.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { plansOf } from '../../support/clients/explain.ts';
import { listenToCommands } from '../../support/command-notes.ts';
import { everyType, notes, people } from '../../support/fixtures/collections.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { addTrashed, stored } from '../../support/fixtures/trash.ts';

listenToCommands();

interface TrashBody {
  readonly data: { readonly items: readonly Record<string, unknown>[]; readonly total: number };
}

const missing = 'f'.repeat(24);
let project: TestProject;
let domain: Project;
let made = 0;

beforeAll(async () => {
  project = await newProject([everyType, people, notes]);
  domain = await domainProject(project);
});

const newCollection = async (): Promise<string> => {
  const name = `c${++made}`;
  await project.addCollection({ name });
  return name;
};

const path = (collection: string, rest = '') => `/api/projects/${project.id}/collections/${collection}/trash${rest}`;
const dashboard = <Body = Record<string, unknown>>(method: string, at: string) =>
  project.developer.dashboard<Body>(method, at);
const list = (collection: string, query = '') => dashboard<TrashBody>('GET', path(collection, query));
const restore = (id: string, collection = 'notes') =>
  dashboard<{ data: Record<string, unknown> }>('POST', path(collection, `/${id}/restore`));
const remove = (id: string, collection = 'notes') => dashboard('DELETE', path(collection, `/${id}`));

const insert = async (collection: string, body: unknown): Promise<string> =>
  (await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body })).body._id;
const trash = (collection: string, id: string) => project.api('DELETE', `/api/data/${collection}/${id}`);
const trashed = async (body: unknown, collection = 'notes'): Promise<string> => {
  const id = await insert(collection, body);
  await trash(collection, id);
  return id;
};

describe('the list', () => {
  test('200 with the last trashed document first, its remaining days, and no active document', async () => {
    const collection = await newCollection();
    await insert(collection, { n: 'active' });
    const ids = [await trashed({ n: 1 }, collection), await trashed({ n: 2 }, collection)];
    const [old] = await addTrashed(domain, collection, 1, 28.5);
    const answer = await list(collection);
    expect(answer).toMatchObject({ status: 200, body: { data: { total: 3, page: 1, limit: 100 } } });
    expect(answer.body.data.items).toMatchObject([
      { _id: ids[1], n: 2, isDeleted: true, daysLeft: 30 },
      { _id: ids[0], n: 1, isDeleted: true, daysLeft: 30 },
      { _id: old, daysLeft: 2 },
    ]);
  });

  test('200 page by page, each document once', async () => {
    const collection = await newCollection();
    const ids = await addTrashed(domain, collection, 25, 1);
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list(collection, `?page=${page}&limit=10`)));
    expect(pages.map(({ body }) => body.data.items.length)).toEqual([10, 10, 5, 0]);
    expect(pages.flatMap(({ body }) => body.data.items.map(({ _id }) => _id))).toEqual(ids);
    expect(pages[3]?.body.data.total).toBe(25);
  });

  test('200 with the total capped at 10 000, and 100 documents at most', async () => {
    const collection = await newCollection();
    await addTrashed(domain, collection, 10_001, 1);
    const answer = await list(collection, '?limit=1000');
    expect(answer.body.data).toMatchObject({ total: 10_000, totalCapped: true, limit: 100 });
    expect(answer.body.data.items).toHaveLength(100);
  });

  test('400 RESULT_TOO_LARGE for a page over 5 MiB, which is never cut; a smaller limit shows each document', async () => {
    const collection = await newCollection();
    const ids = await addTrashed(domain, collection, 4, 1, () => ({ text: 'x'.repeat(2_000_000) }));
    for (const query of ['', '?page=1&limit=3']) {
      expect(await list(collection, query)).toMatchObject({
        status: 400,
        body: { code: 'RESULT_TOO_LARGE', message: expect.stringContaining('limit') },
      });
    }
    const pages = await Promise.all([1, 2].map((page) => list(collection, `?page=${page}&limit=2`)));
    expect(pages.flatMap(({ body }) => body.data.items.map(({ _id }) => _id))).toEqual(ids);
  });

  test('is served only by the index of the trash when the collection contains other documents', async () => {
    const collection = await newCollection();
    await project.api('POST', `/api/data/${collection}/bulk`, { body: Array.from({ length: 100 }, (_, n) => ({ n })) });
    await addTrashed(domain, collection, 30, 1);
    const plans = await plansOf(domain, () => listTrash(domain, { name: collection }, { page: 2, limit: 10 }));
    expect(plans.map(({ command }) => command).sort()).toEqual(['count', 'find']);
    for (const { stages, keysExamined } of plans) {
      expect(stages.join()).toMatch(/(IX|COUNT_)SCAN basalt_trash/);
      expect(stages).not.toContain('SORT');
      expect(stages).not.toContain('COLLSCAN');
      expect(keysExamined).toBeLessThanOrEqual(31);
    }
  });

  test('400 when a page is not a positive number', async () => {
    expect(await list('notes', '?page=0')).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });
});

describe('restoring', () => {
  test('200 with the document, active again', async () => {
    const id = await trashed({ n: 1 });
    const answer = await restore(id);
    expect(answer).toMatchObject({ status: 200, body: { message: 'Document recovered' } });
    expect(answer.body.data).toMatchObject({ _id: id, n: 1, isDeleted: false, deletedAt: null });
    expect((await project.api('GET', `/api/data/notes/${id}`)).status).toBe(200);
  });

  test('404 when the document is not trashed, 400 for a malformed id', async () => {
    expect((await restore(await insert('notes', { n: 1 }))).status).toBe(404);
    expect(await restore(missing)).toMatchObject({ status: 404, body: { code: 'DOCUMENT_NOT_FOUND' } });
    expect(await restore('x')).toMatchObject({ status: 400, body: { code: 'INVALID_ID' } });
  });

  test('409 when its unique value is taken by then', async () => {
    const id = await trashed({ title: 'a', slug: 'taken' }, 'posts');
    await insert('posts', { title: 'b', slug: 'taken' });
    expect(await restore(id, 'posts')).toMatchObject({ status: 409, body: { code: 'DUPLICATE_VALUE' } });
  });

  test('200 for exactly one of 50 concurrent requests', async () => {
    const id = await trashed({ n: 1 });
    expect(tally(await inParallel(50, () => restore(id)))).toEqual({ 200: 1, 404: 49 });
  });
});

describe('deleting permanently', () => {
  test('200, and the document is gone', async () => {
    const id = await trashed({ n: 1 });
    expect(await remove(id)).toMatchObject({
      status: 200,
      body: { data: { id }, message: 'Document permanently deleted' },
    });
    expect((await project.api('GET', `/api/data/notes/${id}?include_deleted=true`)).status).toBe(404);
  });

  test('404 for an active document, which stays, and for an unknown one', async () => {
    const id = await insert('notes', { n: 1 });
    expect(await remove(id)).toMatchObject({ status: 404, body: { code: 'DOCUMENT_NOT_FOUND' } });
    expect((await project.api('GET', `/api/data/notes/${id}`)).status).toBe(200);
    expect((await remove(missing)).status).toBe(404);
  });

  test('200 for exactly one of 25 restores and 25 deletions that run concurrently', async () => {
    const id = await trashed({ n: 1 });
    const answers = await inParallel(50, (index) => (index % 2 === 0 ? restore(id) : remove(id)));
    expect(tally(answers)).toEqual({ 200: 1, 404: 49 });
    const restored = answers.findIndex(({ status }) => status === 200) % 2 === 0;
    expect((await project.api('GET', `/api/data/notes/${id}`)).status).toBe(restored ? 200 : 404);
  });
});

describe('emptying', () => {
  const empty = (collection: string) => dashboard('DELETE', path(collection));

  test('200 with the number of removed documents; active documents stay', async () => {
    const collection = await newCollection();
    await insert(collection, { n: 'active' });
    await addTrashed(domain, collection, 30, 1);
    expect(await empty(collection)).toMatchObject({
      status: 200,
      body: { data: { removed: 30, complete: true }, message: 'Trash emptied' },
    });
    expect(await stored(domain, collection)).toBe(1);
    expect(await empty(collection)).toMatchObject({ status: 200, body: { data: { removed: 0, complete: true } } });
  });

  test('200 when a trashed document has no date, or one in the future', async () => {
    const collection = await newCollection();
    await addTrashed(domain, collection, 1, 1, () => ({ n: 1 }));
    await addTrashed(domain, collection, 1, -1);
    const unset = { $unset: { deletedAt: '' } };
    await onProject(domain, (db) => db.collection(collection).updateOne({ n: 1 }, unset));
    expect((await list(collection)).body.data.items.map(({ daysLeft }) => daysLeft).sort()).toEqual([31, null]);
    expect(await empty(collection)).toMatchObject({ body: { data: { removed: 1 } } });
  });

  test('200 for a large trash, which the work queue empties; documents trashed or restored meanwhile stay', async () => {
    const collection = await newCollection();
    const ids = await addTrashed(domain, collection, 3500, 1);
    expect(await empty(collection)).toMatchObject({
      status: 200,
      body: { data: { removed: 1000, complete: false }, message: 'The trash is being emptied in the background' },
    });
    const later = await trashed({ n: 'later' }, collection);
    const restored = (await restore(ids[0] ?? '', collection)).status === 200;
    await eventually(async () => expect(await stored(domain, collection)).toBe(restored ? 2 : 1));
    expect((await list(collection)).body.data.items).toMatchObject([{ _id: later }]);
  });

  test('200 for 50 concurrent requests, which remove each document once', async () => {
    const collection = await newCollection();
    await addTrashed(domain, collection, 500, 1);
    const answers = await inParallel(50, () => dashboard<{ data: { removed: number } }>('DELETE', path(collection)));
    expect(tally(answers)).toEqual({ 200: 50 });
    expect(answers.reduce((sum, { body }) => sum + body.data.removed, 0)).toBe(500);
  });
});

const routes = [
  ['GET', ''],
  ['DELETE', ''],
  ['POST', `/${missing}/restore`],
  ['DELETE', `/${missing}`],
] as const;

describe.each(routes)('%s …/trash%s', (method, rest) => {
  test.each(['users', 'Users', 'usersX'])('403 USERS_RESERVED for %s', async (collection) => {
    expect(await dashboard(method, path(collection, rest))).toMatchObject({
      status: 403,
      body: { code: 'USERS_RESERVED' },
    });
  });

  test('404 for an unknown collection', async () => {
    expect(await dashboard(method, path('nothing', rest))).toMatchObject({
      status: 404,
      body: { code: 'COLLECTION_NOT_FOUND' },
    });
  });

  test('404 for another developer’s project, which does not change', async () => {
    const id = await trashed({ n: 1 });
    const before = await stored(domain, 'notes', { isDeleted: true });
    const stranger = await newDeveloper();
    const answer = await stranger.dashboard(method, path('notes', rest).replace(missing, id));
    expect(answer).toMatchObject({ status: 404, body: { code: 'PROJECT_NOT_FOUND' } });
    expect(await stored(domain, 'notes', { isDeleted: true })).toBe(before);
  });
});

test.each(routes.slice(2))(
  '404 for a document of the developer’s other project: %s …/trash%s',
  async (method, rest) => {
    const other = await newProject([notes], project.developer);
    const { body } = await other.api<{ _id: string }>('POST', '/api/data/notes', { body: { n: 1 } });
    await other.api('DELETE', `/api/data/notes/${body._id}`);
    const answer = await dashboard(method, path('notes', rest).replace(missing, body._id));
    expect(answer).toMatchObject({ status: 404, body: { code: 'DOCUMENT_NOT_FOUND' } });
    expect(await stored(await domainProject(other), 'notes', { isDeleted: true })).toBe(1);
  },
);
