import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../../support/clients/client.ts';
import { newUsersProject, type SignIn, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;
let mia: SignIn;
let base: string;

interface Listed {
  readonly data: { readonly items: readonly Readonly<Record<string, unknown>>[]; readonly total: number };
  readonly code?: string;
}

const list = (name: string, query: string): Promise<Answer<Listed>> =>
  project.developer.dashboard<Listed>('GET', `${base}/collections/${name}/documents?${query}`);

/** The same list as the app gets it. */
const ofApp = (name: string, token?: string) =>
  project.api<Listed>('GET', `/api/data/${name}`, { key: project.publishableKey, ...(token && { token }) });

beforeAll(async () => {
  project = await newUsersProject();
  mia = await project.newUser({ name: 'Mia' });
  base = `/api/projects/${project.id}`;
  await project.addCollection({
    name: 'notes',
    schema: [
      { key: 'text', type: 'String' },
      { key: 'score', type: 'Number', read: 'server' },
    ],
    rls: { enabled: true, mode: 'private' },
  });
  await project.addCollection({
    name: 'posts',
    schema: [
      { key: 'text', type: 'String' },
      { key: 'published', type: 'Boolean' },
      { key: 'score', type: 'Number', read: 'server' },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: '',
      rules: { read: { $or: [{ published: true }, { $user: {} }] } },
    },
    changes: true,
  });
  const body = [
    { text: 'hers', userId: mia.userId, score: 1 },
    { text: 'other', userId: '6743f0c2a91b5d0012ab34cd', score: 2 },
  ];
  expect((await project.api('POST', '/api/data/notes/bulk', { body })).status).toBe(201);
  const posts = [
    { text: 'out', published: true, score: 3 },
    { text: 'draft', published: false, score: 4 },
  ];
  expect((await project.api('POST', '/api/data/posts/bulk', { body: posts })).status).toBe(201);
});

describe('view_as', () => {
  test('lists what the app gets, for a signed-out visitor and for a user', async () => {
    for (const [as, token] of [
      ['publishable', undefined],
      [mia.userId, mia.accessToken],
    ] as const) {
      const [seen, got] = await Promise.all([list('posts', `view_as=${as}`), ofApp('posts', token)]);
      expect(seen.status).toBe(200);
      expect(seen.body.data).toEqual(got.body.data);
      expect(seen.body.data.items.every((item) => !('score' in item))).toBe(true);
    }
    const own = await list('notes', `view_as=${mia.userId}`);
    expect(own.body.data.items.map(({ text }) => text)).toEqual(['hers']);
    expect((await list('notes', 'sort=text')).body.data).toMatchObject({
      total: 2,
      items: [{ score: 1 }, { score: 2 }],
    });
  });

  test('gets a document without hidden fields, and 404 DOCUMENT_NOT_FOUND for a hidden one', async () => {
    const [hers, other] = (await list('notes', 'sort=text')).body.data.items;
    const get = (id: unknown) =>
      project.developer.dashboard<{ data: object; code?: string }>(
        'GET',
        `${base}/collections/notes/documents/${id}?view_as=${mia.userId}`,
      );
    const { body } = await get(hers?._id);
    expect(body.data).toMatchObject({ text: 'hers' });
    expect(body.data).not.toHaveProperty('score');
    expect(await get(other?._id)).toMatchObject({ status: 404, body: { code: 'DOCUMENT_NOT_FOUND' } });
  });

  test('400 when a filter names a hidden field', async () => {
    expect((await list('posts', 'view_as=publishable&score=3')).status).toBe(400);
    expect((await list('posts', 'score=3')).status).toBe(200);
  });

  test('401 TOKEN_MISSING when a signed-out visitor may list nothing', async () => {
    expect(await list('notes', 'view_as=publishable')).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
  });

  test('400 INVALID_QUERY when the value is neither publishable nor an id', async () => {
    for (const as of ['secret', 'mia', ''])
      expect(await list('posts', `view_as=${as}`)).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });

  test('403 for the collection of users, which apps cannot list', async () => {
    expect((await list('users', 'view_as=publishable')).status).toBe(403);
  });

  test('is a filter of the public API, not a caller', async () => {
    const { body } = await project.api<Listed>('GET', '/api/data/posts?view_as=publishable');
    expect(body.data.items).toEqual([]);
  });
});

test('collections have the number of indexes and bytes of documents if stats are requested', async () => {
  const path = `${base}/collections/posts/indexes`;
  expect((await project.developer.dashboard('POST', path, { keys: { text: 1 } })).status).toBe(201);
  const read = async (query: string) =>
    (await project.developer.dashboard<Listed>('GET', `${base}/collections${query}`)).body.data.items;
  const posts = (await read('?stats=true')).find(({ name }) => name === 'posts');
  expect(posts).toMatchObject({ indexes: 1, documents: 2 });
  expect(posts?.bytes).toBeGreaterThan(100);
  expect((await read('')).every((item) => !('bytes' in item || 'indexes' in item))).toBe(true);
});
