import { beforeAll, describe, expect, test } from 'vitest';
import { notes } from '../../support/fixtures/collections.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;
let other: TestProject;

beforeAll(async () => {
  project = await newProject([notes]);
  other = await newProject([notes]);
});

const create = async (body: unknown): Promise<string> =>
  (await project.api<{ _id: string }>('POST', '/api/data/notes', { body })).body._id;

describe('reading one document', () => {
  test('200 with the document itself, for both kinds of key', async () => {
    const id = await create({ a: 1 });
    for (const key of [project.secretKey, project.publishableKey]) {
      const answer = await project.api('GET', `/api/data/notes/${id}`, { key });
      expect(answer).toMatchObject({ status: 200, body: { _id: id, a: 1, isDeleted: false, deletedAt: null } });
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });

  test('200 when a token is invalid, because reading needs no token', async () => {
    const id = await create({ a: 1 });
    const answer = await project.api('GET', `/api/data/notes/${id}`, { key: project.publishableKey, token: 'garbage' });
    expect(answer.status).toBe(200);
  });

  test('404 for a trashed document, 200 with include_deleted=true', async () => {
    const id = await create({ a: 1 });
    await project.api('DELETE', `/api/data/notes/${id}`);
    expect(await project.api('GET', `/api/data/notes/${id}`)).toMatchObject({
      status: 404,
      body: { code: 'DOCUMENT_NOT_FOUND' },
    });
    expect(await project.api('GET', `/api/data/notes/${id}?include_deleted=true`)).toMatchObject({
      status: 200,
      body: { isDeleted: true, deletedAt: expect.stringMatching(/Z$/) },
    });
    expect((await project.api('GET', `/api/data/notes/${id}?include_deleted=false`)).status).toBe(404);
  });

  test("404 for another project's document, and for an unknown one", async () => {
    const id = await create({ a: 1 });
    expect(await other.api('GET', `/api/data/notes/${id}`)).toMatchObject({ status: 404 });
    expect(await project.api('GET', `/api/data/notes/${'f'.repeat(24)}`)).toMatchObject({ status: 404 });
  });

  test.each(['x', '123', 'g'.repeat(24), 'f'.repeat(23), '%7B%22%24ne%22%3Anull%7D'])(
    '400 for the malformed id %s',
    async (id) => {
      expect(await project.api('GET', `/api/data/notes/${id}`)).toMatchObject({
        status: 400,
        body: { code: 'INVALID_ID' },
      });
    },
  );

  test('400 when include_deleted is not a boolean', async () => {
    const id = await create({ a: 1 });
    expect(await project.api('GET', `/api/data/notes/${id}?include_deleted=yes`)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_QUERY' },
    });
  });
});
