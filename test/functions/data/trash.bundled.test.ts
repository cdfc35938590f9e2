import { beforeAll, describe, expect, test } from 'vitest';
import { inParallel, tally } from '../../support/clients/client.ts';
import { everyType, notes, people } from '../../support/fixtures/collections.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;
const missing = 'f'.repeat(24);

beforeAll(async () => {
  project = await newProject([everyType, people, notes]);
});

const create = async (collection: string, body: unknown): Promise<string> =>
  (await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body })).body._id;
const remove = (id: string, query = '', collection = 'notes') =>
  project.api('DELETE', `/api/data/${collection}/${id}${query}`);
const recover = (id: string, collection = 'notes') =>
  project.api<{ data: Record<string, unknown> }>('PATCH', `/api/data/${collection}/${id}/recover`);
const exists = async (id: string, collection = 'notes') =>
  (await project.api('GET', `/api/data/${collection}/${id}?include_deleted=true`)).status === 200;

describe('moving to the trash', () => {
  test('200 with the id as given; reads no longer return the document', async () => {
    const id = await create('notes', { a: 1 });
    expect(await remove(id)).toMatchObject({
      status: 200,
      body: { success: true, data: { id }, message: 'Document moved to trash' },
    });
    expect(await exists(id)).toBe(true);
    expect((await project.api('GET', `/api/data/notes/${id}`)).status).toBe(404);
  });

  test('200 without a change of updatedAt; recovering does not change it either', async () => {
    const id = await create('notes', { a: 1 });
    const changed = await project.api<{ data: { updatedAt: string } }>('PUT', `/api/data/notes/${id}`, {
      body: { a: 2 },
    });
    const { updatedAt } = changed.body.data;
    expect((await remove(id)).status).toBe(200);
    const trashed = await project.api('GET', `/api/data/notes/${id}?include_deleted=true`);
    expect(trashed.body).toMatchObject({ isDeleted: true, updatedAt });
    expect((await recover(id)).body.data).toMatchObject({ isDeleted: false, updatedAt });
  });

  test('404 the second time and for unknown documents; 400 for a malformed id', async () => {
    const id = await create('notes', { a: 1 });
    await remove(id);
    expect(await remove(id)).toMatchObject({ status: 404, body: { code: 'DOCUMENT_NOT_FOUND' } });
    expect((await remove(missing)).status).toBe(404);
    expect(await remove('x')).toMatchObject({ status: 400, body: { code: 'INVALID_ID' } });
  });

  test('200 for exactly one of 50 parallel deletes', async () => {
    const id = await create('notes', { a: 1 });
    expect(tally(await inParallel(50, () => remove(id)))).toEqual({ 200: 1, 404: 49 });
  });

  test('a unique value is available again', async () => {
    const id = await create('posts', { title: 'a', slug: 'freed' });
    await remove(id, '', 'posts');
    expect((await project.api('POST', '/api/data/posts', { body: { title: 'b', slug: 'freed' } })).status).toBe(201);
  });
});

describe('deleting permanently', () => {
  test('200 for an active and for a trashed document', async () => {
    for (const trashed of [false, true]) {
      const id = await create('notes', { a: 1 });
      if (trashed) await remove(id);
      expect(await remove(id, '?permanent=true')).toMatchObject({
        status: 200,
        body: { success: true, data: { id }, message: 'Document permanently deleted' },
      });
      expect(await exists(id)).toBe(false);
    }
  });

  test('400 when permanent is given twice; the document stays', async () => {
    const id = await create('notes', { a: 1 });
    expect(await remove(id, '?permanent=false&permanent=true')).toMatchObject({
      status: 400,
      body: { code: 'INVALID_QUERY', message: 'permanent was given more than once.' },
    });
    expect((await project.api('GET', `/api/data/notes/${id}`)).status).toBe(200);
  });

  test('404 the second time; 400 when permanent is not a boolean', async () => {
    const id = await create('notes', { a: 1 });
    expect(await remove(id, '?permanent=1')).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
    await remove(id, '?permanent=true');
    expect((await remove(id, '?permanent=true')).status).toBe(404);
  });
});

describe('recovering', () => {
  test('200 with the document, active again', async () => {
    const id = await create('notes', { a: 1 });
    await remove(id);
    const answer = await recover(id);
    expect(answer).toMatchObject({ status: 200, body: { success: true, message: 'Document recovered' } });
    expect(answer.body.data).toMatchObject({ _id: id, a: 1, isDeleted: false, deletedAt: null });
    expect((await project.api('GET', `/api/data/notes/${id}`)).status).toBe(200);
  });

  test('404 when the document is not trashed; 400 for a malformed id', async () => {
    const id = await create('notes', { a: 1 });
    expect((await recover(id)).status).toBe(404);
    expect((await recover(missing)).status).toBe(404);
    expect(await recover('x')).toMatchObject({ status: 400, body: { code: 'INVALID_ID' } });
  });

  test('409 when the unique value is taken by then', async () => {
    const id = await create('posts', { title: 'a', slug: 'contested' });
    await remove(id, '', 'posts');
    await create('posts', { title: 'b', slug: 'contested' });
    expect(await recover(id, 'posts')).toMatchObject({ status: 409, body: { code: 'DUPLICATE_VALUE' } });
  });

  test('200 for exactly one of 50 parallel recoveries', async () => {
    const id = await create('notes', { a: 1 });
    await remove(id);
    expect(tally(await inParallel(50, () => recover(id)))).toEqual({ 200: 1, 404: 49 });
  });
});
