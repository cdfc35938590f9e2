import { beforeAll, describe, expect, test } from 'vitest';
import { everyType, people, todos } from '../../support/fixtures/collections.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;
let ada: string;
let eve: string;
let gone: string;
const missing = 'f'.repeat(24);
const annId = 'a'.repeat(24);

interface List {
  readonly data: { readonly items: readonly Record<string, unknown>[] };
}

const create = async (collection: string, body: unknown, options = {}): Promise<string> =>
  (await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body, ...options })).body._id;

beforeAll(async () => {
  const link = {
    name: 'links',
    schema: [
      { key: 'todo', type: 'Ref', ref: 'todos' },
      { key: 'user', type: 'Ref', ref: 'users' },
      { key: 'nowhere', type: 'Ref', ref: 'nowhere' },
    ],
  };
  project = await newProject([everyType, people, todos, link]);
  ada = await create('people', { name: 'Ada' });
  eve = await create('people', { name: 'Eve' });
  gone = await create('people', { name: 'Gone' });
  await project.api('DELETE', `/api/data/people/${gone}`);
  await create('posts', {
    title: 'one',
    author: ada,
    readers: [ada, gone, missing, eve],
    meta: { source: 's', reviewer: eve },
    comments: [{ text: 'x', by: ada }, { text: 'y' }],
  });
});

const only = async (query: string, collection = 'posts', options = {}) =>
  (await project.api<List>('GET', `/api/data/${collection}?${query}`, options)).body.data.items[0];

describe.each(['populate', 'expand'])('%s', (parameter) => {
  test('replaces a reference by its document', async () => {
    expect(await only(`${parameter}=author`)).toMatchObject({ author: { _id: ada, name: 'Ada', isDeleted: false } });
    expect(await only('')).toMatchObject({ author: ada });
  });
});

test('200 for one document with populated references, 400 for an invalid field', async () => {
  const { _id } = (await only('')) as { _id: string };
  const path = `/api/data/posts/${_id}`;
  expect(await project.api('GET', `${path}?populate=author&expand=meta.reviewer`)).toMatchObject({
    status: 200,
    body: { author: { name: 'Ada' }, meta: { reviewer: { name: 'Eve' } } },
  });
  expect(await project.api('GET', `${path}?populate=title`)).toMatchObject({
    status: 400,
    body: { code: 'INVALID_QUERY' },
  });
});

describe('populating', () => {
  test('works for arrays of references, nested fields and nested fields of elements', async () => {
    expect(await only('populate=readers,meta.reviewer,comments.by')).toMatchObject({
      readers: [{ name: 'Ada' }, null, null, { name: 'Eve' }],
      meta: { reviewer: { name: 'Eve' } },
      comments: [{ text: 'x', by: { name: 'Ada' } }, { text: 'y' }],
    });
  });

  test('shows trashed targets only with include_deleted=true', async () => {
    expect(await only('populate=readers&include_deleted=true')).toMatchObject({
      readers: [{ name: 'Ada' }, { name: 'Gone', isDeleted: true }, null, { name: 'Eve' }],
    });
  });

  test('returns null when the target collection does not exist', async () => {
    await create('links', { nowhere: missing });
    expect(await only('populate=nowhere', 'links')).toMatchObject({ nowhere: null });
  });

  test('keeps the id when the caller may not read the target', async () => {
    const token = await project.tokenFor(annId);
    const stranger = await project.tokenFor('b'.repeat(24));
    const key = project.publishableKey;
    const todo = await create('todos', { task: 'secret' }, { key, token });
    await create('links', { todo });
    expect(await only('populate=todo', 'links', { key })).toMatchObject({ todo });
    expect(await only('populate=todo', 'links', { key, token: stranger })).toMatchObject({ todo });
    expect(await only('populate=todo', 'links', { key, token })).toMatchObject({ todo: { task: 'secret' } });
    expect(await only('populate=todo', 'links')).toMatchObject({ todo: { task: 'secret' } });
  });

  test.each(['title', 'tags', 'missing', 'author.name', '__proto__', 'author,', '$author'])(
    '400 for %s, which is not a reference',
    async (field) => {
      const answer = await project.api('GET', `/api/data/posts?populate=${encodeURIComponent(field)}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
    },
  );
});

test('400 RESULT_TOO_LARGE when populated documents make a numbered page too large; a cursor page is cut', async () => {
  const author = await create('people', { name: 'Long', text: 'x'.repeat(1_000_000) });
  for (let n = 0; n < 8; n += 1) await create('posts', { title: `long ${n}`, author });
  const ask = (query: string) =>
    project.api<List & { data: { nextCursor: string } }>(
      'GET',
      `/api/data/posts?title_regex=^long&populate=author&${query}`,
    );
  expect(await ask('page=1')).toMatchObject({ status: 400, body: { code: 'RESULT_TOO_LARGE' } });
  const first = await ask('cursor=');
  expect(first.body.data).toMatchObject({ truncated: true });
  const second = await ask(`cursor=${first.body.data.nextCursor}`);
  const pages = [...first.body.data.items, ...second.body.data.items];
  expect(pages.map(({ title }) => title)).toEqual([7, 6, 5, 4, 3, 2, 1, 0].map((n) => `long ${n}`));
  expect((await ask('limit=4&page=2')).body.data.items).toHaveLength(4);
});

test.each(['', 'meta=rev', 'meta=false', 'fields=title,author', 'fields=title', 'include_deleted=true', 'cursor='])(
  'returns the same text with and without a nested field in the request: %s',
  async (query) => {
    const lines = await create('people', { name: 'Ünï “x”\n', '0': 1, about: 'x'.repeat(40_000) });
    for (const author of [ada, gone, missing, null, lines, undefined]) await create('posts', { title: 'same', author });
    const ask = async (populate: string) =>
      JSON.stringify((await project.api<List>('GET', `/api/data/posts?title=same&${query}&${populate}`)).body.data);
    const alone = await ask('populate=author');
    expect(alone).toBe(await ask('populate=author,meta.reviewer'));
    if (query !== 'fields=title') expect(alone).toContain('Ada');
  },
);
