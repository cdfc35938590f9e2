import { beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/clients/client.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/*
 * A list decides a rule by a join when the rule follows a reference to more than 10,000 documents. Comments are
 * readable while their post is published; of 10,001 published posts only the last two have comments.
 */

const rls = (rules: object) => ({ enabled: true, mode: 'rules', rules });
const ref = (collection: string) => ({ type: 'Ref', ref: collection });

let project: UsersProject;
let reader: RequestOptions;
let draft: string;

const insert = async (collection: string, body: object): Promise<string> => {
  const made = await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body });
  expect(made.status).toBe(201);
  return made.body._id;
};

interface Listed {
  readonly _id: string;
  readonly text: string;
  readonly post?: unknown;
}

interface Answer {
  readonly data: {
    readonly items: readonly Listed[];
    readonly total?: number;
    readonly count?: number;
    readonly nextCursor?: string | null;
  };
}

const get = async (path: string): Promise<Answer['data']> => {
  const answer = await project.api<Answer>('GET', `/api/data/${path}`, reader);
  expect(answer.status).toBe(200);
  return answer.body.data;
};

const texts = async (path: string) => (await get(path)).items.map(({ text }) => text);

beforeAll(async () => {
  project = await newUsersProject();
  const published = { $ref: { post: { state: 'published' } } };
  await project.addCollection({ name: 'posts', rls: rls({ read: true }) });
  await project.addCollection({
    name: 'comments',
    schema: [
      { key: 'text', type: 'String', searchable: true },
      { key: 'post', ...ref('posts') },
    ],
    rls: rls({ read: published }),
    changes: true,
  });
  const either = { $or: [{ text: 'for all' }, { $and: [{ by: { $user: '_id' } }, published] }] };
  await project.addCollection({
    name: 'votes',
    schema: [
      { key: 'text', type: 'String' },
      { key: 'by', type: 'String' },
      { key: 'post', ...ref('posts') },
    ],
    rls: rls({ read: either }),
  });
  for (let page = 0; page < 100; page += 1) {
    const body = Array.from({ length: 100 }, () => ({ state: 'published' }));
    expect(await project.api('POST', '/api/data/posts/bulk', { body })).toMatchObject({ status: 201 });
  }
  const user = await project.newUser();
  reader = { key: project.publishableKey, token: user.accessToken };
  const first = await insert('posts', { state: 'published' });
  const second = await insert('posts', { state: 'published' });
  draft = await insert('posts', { state: 'draft' });
  for (const [text, post] of [
    ['one', first],
    ['secret', draft],
    ['two', second],
    ['three', first],
  ] as const) {
    await insert('comments', { text, post });
    await insert('votes', { text: `for ${text}`, by: user.userId, post });
  }
  await insert('votes', { text: 'for all' });
  await insert('votes', { text: 'of another', by: draft, post: first });
  await insert('comments', { text: 'of none' });
});

describe('a list whose rule follows a reference to more than 10,000 documents', () => {
  test('200 with the allowed documents, newest first and in another order', async () => {
    expect(await texts('comments')).toEqual(['three', 'two', 'one']);
    expect(await texts('comments?sort=text')).toEqual(['one', 'three', 'two']);
  });

  test('200 without the internal field of the join', async () => {
    const { items } = await get('comments?sort=text&limit=1');
    expect(Object.keys(items[0] ?? {}).sort()).toEqual([
      ...['_id', 'createdAt', 'deletedAt', 'isDeleted', 'post', 'text', 'updatedAt'],
    ]);
  });

  test('200 with exact counts and totals', async () => {
    expect(await get('comments?count=true')).toMatchObject({ count: 3 });
    expect(await get('comments?limit=1')).toMatchObject({ total: 3 });
  });

  test('200 with a filter, a search and selected fields', async () => {
    expect(await texts('comments?text_regex=^t')).toEqual(['three', 'two']);
    expect(await texts('comments?search=secret')).toEqual([]);
    expect(await texts('comments?search=two')).toEqual(['two']);
    expect(await texts('comments?fields=text')).toEqual(['three', 'two', 'one']);
  });

  test.each(['-_id', 'text'])('200 for each page of a cursor sorted by %s', async (sort) => {
    const walked: string[] = [];
    for (let cursor: string | null = ''; cursor !== null && walked.length < 9; ) {
      const { items, nextCursor = null }: Answer['data'] = await get(`comments?sort=${sort}&limit=1&cursor=${cursor}`);
      walked.push(...items.map(({ text }) => text));
      cursor = nextCursor;
    }
    expect(walked).toEqual(sort === 'text' ? ['one', 'three', 'two'] : ['three', 'two', 'one']);
  });

  test('200 with documents that other parts of the rule allow', async () => {
    expect(await texts('votes?sort=text')).toEqual(['for all', 'for one', 'for three', 'for two']);
    expect(await get('votes?count=true')).toMatchObject({ count: 4 });
  });

  test('200 for an aggregation of the collection, and for joins into it', async () => {
    const aggregate = async (collection: string, pipeline: readonly object[]) => {
      const sent = { ...reader, body: { pipeline } };
      const answer = await project.api<{ data: unknown[] }>('POST', `/api/data/${collection}/aggregate`, sent);
      expect(answer.status).toBe(200);
      return answer.body.data;
    };
    expect(await aggregate('comments', [{ $sort: { text: 1 } }, { $project: { _id: 0, createdAt: 0 } }])).toMatchObject(
      [{ text: 'one' }, { text: 'three' }, { text: 'two' }],
    );
    const lookup = { from: 'comments', localField: '_id', foreignField: 'post', as: 'comments' };
    const stages = [{ $match: { state: 'draft' } }, { $lookup: lookup }, { $project: { comments: 1 } }];
    expect(await aggregate('posts', stages)).toEqual([{ _id: draft, comments: [] }]);
    const union = [{ $match: { state: 'draft' } }, { $unionWith: 'comments' }, { $count: 'n' }];
    expect(await aggregate('posts', union)).toEqual([{ n: 4 }]);
  });

  test('200 with ids instead of populated documents that the rule hides', async () => {
    await project.addCollection({
      name: 'pins',
      schema: [
        { key: 'text', type: 'String' },
        { key: 'comment', ...ref('comments') },
      ],
      rls: rls({ read: true }),
    });
    const all = await project.api<Answer>('GET', '/api/data/comments?sort=_id&limit=2');
    const [shown, hidden] = all.body.data.items.map(({ _id }) => _id);
    await insert('pins', { text: 'shown', comment: shown });
    await insert('pins', { text: 'hidden', comment: hidden });
    const { items } = await get('pins?sort=text&populate=comment');
    expect(items).toMatchObject([{ comment: hidden }, { comment: { text: 'one' } }]);
  });

  test('200 for changes of the documents that the rule allows', async () => {
    const answer = await project.api<{ data: { changes: readonly object[] } }>(
      'GET',
      '/api/data/comments/changes?since=0',
      reader,
    );
    expect(answer.status).toBe(200);
    const { changes } = answer.body.data;
    expect(changes).toHaveLength(5);
    expect(changes.filter((change) => 'deleted' in change)).toHaveLength(2);
    expect(JSON.stringify(changes)).not.toContain('secret');
  });
});
