import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { runCascades } from '../../../shared/documents/store/cascade-job.ts';
import { cascadeRecords } from '../../../shared/documents/store/cascade-records.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

const ref = (key: string, target: string, onDelete: string, more: object = {}) => ({
  key,
  type: 'Ref',
  ref: target,
  onDelete,
  ...more,
});
const permanent = '?permanent=true';

let project: UsersProject;
let ann: RequestOptions & { readonly userId: string };

beforeAll(async () => {
  project = await newUsersProject();
  await project.addCollection({ name: 'posts', rls: { enabled: true } });
  await project.addCollection({
    name: 'comments',
    schema: [
      ref('post', 'posts', 'trash'),
      ref('owned', 'posts', 'delete'),
      ref('loose', 'posts', 'unset'),
      { key: 'in', type: 'Object', fields: [ref('post', 'posts', 'unset')] },
      { key: 'list', type: 'Array', items: { type: 'Ref', ref: 'posts', onDelete: 'unset' } },
      { key: 'parts', type: 'Array', items: { type: 'Object', fields: [ref('post', 'posts', 'unset')] } },
      {
        key: 'deep',
        type: 'Array',
        items: {
          type: 'Object',
          fields: [{ key: 'refs', type: 'Array', items: { type: 'Ref', ref: 'posts', onDelete: 'unset' } }],
        },
      },
      ref('user', 'users', 'delete'),
      ref('author', 'users', 'unset'),
      ref('reader', 'users', 'trash'),
      { key: 'slug', type: 'String', unique: true },
    ],
    changes: true,
  });
  await project.addCollection({
    name: 'likes',
    schema: [ref('comment', 'comments', 'trash'), ref('kept', 'comments', 'delete'), ref('like', 'likes', 'trash')],
  });
  await project.addCollection({
    name: 'audits',
    schema: [ref('comment', 'comments', 'restrict'), ref('like', 'likes', 'restrict')],
  });
  const { accessToken, userId } = await project.newUser();
  ann = { key: project.publishableKey, token: accessToken, userId };
});

interface Body {
  readonly _id: string;
  readonly code?: string;
  readonly isDeleted?: boolean;
  readonly errors?: readonly object[];
}

const send = (method: string, path: string, body?: unknown, caller: RequestOptions = {}) =>
  project.api<Body>(method, `/api/data/${path}`, {
    ...(caller.key && { key: caller.key }),
    ...(caller.token && { token: caller.token }),
    ...(body === undefined ? {} : { body }),
  });
const make = async (name: string, body: object = {}, caller: RequestOptions = {}): Promise<string> => {
  const made = await send('POST', name, body, caller);
  expect(made.status).toBe(201);
  return made.body._id;
};
const stateOf = async (name: string, id: string): Promise<'active' | 'trashed' | 'gone'> => {
  const { status, body } = await send('GET', `${name}/${id}?include_deleted=true`);
  if (status !== 200) return 'gone';
  return body.isDeleted ? 'trashed' : 'active';
};
const statesOf = (name: string, ids: readonly string[]) => Promise.all(ids.map((id) => stateOf(name, id)));
const notes = () => cascadeRecords.find({ projectId: new ObjectId(project.id) });

/** Runs the job as if this many minutes had passed. */
const later = async (minutes: number): Promise<void> => {
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + minutes * 60_000);
  try {
    await runCascades(project.id);
  } finally {
    vi.restoreAllMocks();
  }
};

describe('onDelete trash', () => {
  test('moves the references of a trashed document to the trash at every level, and recovering restores them', async () => {
    const post = await make('posts');
    const comments = [await make('comments', { post }), await make('comments', { post })];
    const [kept, earlier] = [await make('comments'), await make('comments', { post })];
    const like = await make('likes', { comment: comments[0] });
    await send('DELETE', `comments/${earlier}`);
    expect((await send('DELETE', `posts/${post}`)).status).toBe(200);
    expect(await statesOf('comments', [...comments, kept])).toEqual(['trashed', 'trashed', 'active']);
    expect(await stateOf('likes', like)).toBe('trashed');
    expect((await send('PATCH', `posts/${post}/recover`)).status).toBe(200);
    expect(await statesOf('comments', [...comments, earlier])).toEqual(['active', 'active', 'trashed']);
    expect(await stateOf('likes', like)).toBe('active');
  });

  test('moves active documents to the trash when the target is deleted, but not when it was already trashed', async () => {
    const [active, trashed] = [await make('posts'), await make('posts')];
    const [comment, like] = [await make('comments', { post: active }), await make('comments')];
    await send('DELETE', `posts/${trashed}`);
    const other = await make('comments', { post: trashed });
    await send('DELETE', `posts/${active}${permanent}`);
    await send('DELETE', `posts/${trashed}${permanent}`);
    expect(await statesOf('comments', [comment, like, other])).toEqual(['trashed', 'active', 'active']);
  });

  test('a document stays in the trash when its unique value is taken, and the others are restored', async () => {
    const post = await make('posts');
    const slug = `s${post}`;
    const [taken, free] = [await make('comments', { post, slug }), await make('comments', { post })];
    await send('DELETE', `posts/${post}`);
    const other = await make('comments', { slug });
    expect((await send('PATCH', `posts/${post}/recover`)).status).toBe(200);
    expect(await statesOf('comments', [taken, free, other])).toEqual(['trashed', 'active', 'active']);
  });

  test('stops at a cycle and restores all of it', async () => {
    const ids = [await make('likes'), await make('likes'), await make('likes')];
    for (const [index, id] of ids.entries()) await send('PATCH', `likes/${id}`, { like: ids[(index + 1) % 3] });
    expect((await send('DELETE', `likes/${ids[0]}`)).status).toBe(200);
    expect(await statesOf('likes', ids)).toEqual(['trashed', 'trashed', 'trashed']);
    expect((await send('PATCH', `likes/${ids[0]}/recover`)).status).toBe(200);
    expect(await statesOf('likes', ids)).toEqual(['active', 'active', 'active']);
  });

  test('follows with the server’s rights when other users own the documents', async () => {
    const post = await make('posts', {}, ann);
    const comment = await make('comments', { post });
    expect((await send('DELETE', `posts/${post}`, undefined, ann)).status).toBe(200);
    expect(await stateOf('comments', comment)).toBe('trashed');
  });
});

describe('onDelete delete and unset', () => {
  test('delete removes the references at every level when the target is permanently deleted', async () => {
    const post = await make('posts');
    const [active, trashed] = [await make('comments', { owned: post }), await make('comments', { owned: post })];
    const [like, moved] = [await make('likes', { kept: active }), await make('likes', { comment: active })];
    await send('DELETE', `comments/${trashed}`);
    await send('DELETE', `posts/${post}`);
    expect(await statesOf('comments', [active, trashed])).toEqual(['active', 'trashed']);
    await send('DELETE', `posts/${post}${permanent}`);
    expect(await statesOf('comments', [active, trashed])).toEqual(['gone', 'gone']);
    expect(await statesOf('likes', [like, moved])).toEqual(['gone', 'trashed']);
  });

  test('unset removes the field or the array element, with a new revision', async () => {
    const [post, other] = [await make('posts'), await make('posts')];
    const body = {
      loose: post,
      in: { post, note: 'stays' },
      list: [other, post, other, post],
      parts: [{ post }, {}, { post: other }],
      deep: [{ refs: [post, other] }, { refs: [other] }, {}],
    };
    const [full, trashed] = [await make('comments', body), await make('comments', { loose: post })];
    await send('DELETE', `comments/${trashed}`);
    await send('DELETE', `posts/${post}${permanent}`);
    const found = await send('GET', `comments/${full}`);
    expect(found.body).toMatchObject({
      in: { note: 'stays' },
      list: [other, other],
      parts: [{}, {}, { post: other }],
      deep: [{ refs: [other] }, { refs: [other] }, {}],
    });
    expect(found.body).not.toHaveProperty('loose');
    expect(found.body).not.toHaveProperty('in.post');
    expect(found.body).not.toHaveProperty('parts.0.post');
    const { headers } = await project.api('GET', `/api/data/comments/${full}`);
    expect(headers.get('etag')).toBe('"6"');
    expect((await send('PATCH', `comments/${trashed}/recover`)).body).not.toHaveProperty('data.loose');
  });

  test('the changes feed contains the changes that followed, with tombstones', async () => {
    const post = await make('posts');
    const [owned, loose] = [await make('comments', { owned: post }), await make('comments', { loose: post })];
    const { body } = await project.api<{ data: { next: string } }>('GET', '/api/data/comments/changes');
    await send('DELETE', `posts/${post}${permanent}`);
    const changes = await project.api<{ data: { changes: object[] } }>(
      'GET',
      `/api/data/comments/changes?since=${body.data.next}`,
    );
    expect(changes.body.data.changes).toHaveLength(2);
    expect(changes.body.data.changes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ _id: owned, deleted: true }),
        expect.objectContaining({ _id: loose, rev: 2 }),
      ]),
    );
  });

  test('references follow when a trashed document is deleted or the trash is emptied', async () => {
    const [one, two] = [await make('posts'), await make('posts')];
    const comments = [await make('comments', { owned: one }), await make('comments', { owned: two })];
    for (const post of [one, two]) await send('DELETE', `posts/${post}`);
    const trash = `/api/projects/${project.id}/collections/posts/trash`;
    expect((await project.developer.dashboard('DELETE', `${trash}/${one}`)).status).toBe(200);
    expect(await statesOf('comments', comments)).toEqual(['gone', 'active']);
    expect((await project.developer.dashboard('DELETE', trash)).status).toBe(200);
    // The deployed stack runs the job as well.
    await expect.poll(() => statesOf('comments', comments), { timeout: 60_000 }).toEqual(['gone', 'gone']);
  });
});

describe('a chain of references', () => {
  test('409 STILL_REFERENCED for the whole deletion when a document that would follow is still referenced', async () => {
    const post = await make('posts', {}, ann);
    const comment = await make('comments', { post });
    const [like, audit] = [await make('likes', { comment }), await make('audits', { comment })];
    const refused = { status: 409, body: { code: 'STILL_REFERENCED' } };
    const answer = await send('DELETE', `posts/${post}`);
    expect(answer).toMatchObject(refused);
    expect(answer.body.errors).toEqual([
      {
        field: 'comment',
        collection: 'audits',
        count: 1,
        message: '"audits" refers to a document of "comments" that would be deleted with it in "comment"',
      },
    ]);
    const ofUser = await send('DELETE', `posts/${post}`, undefined, ann);
    expect(ofUser.body.errors).toEqual([
      { collection: 'audits', message: '"audits" refers to this document, or to one that would be deleted with it' },
    ]);
    expect(await send('DELETE', `posts/${post}${permanent}`)).toMatchObject(refused);
    expect(await statesOf('comments', [comment])).toEqual(['active']);
    expect(await statesOf('likes', [like])).toEqual(['active']);
    await send('DELETE', `audits/${audit}`);
    expect((await send('DELETE', `posts/${post}`)).status).toBe(200);
    expect(await stateOf('likes', like)).toBe('trashed');
  });

  test('a deletion succeeds when the restricting document is removed with it', async () => {
    await project.addCollection({ name: 'roots' });
    await project.addCollection({
      name: 'leaves',
      schema: [ref('root', 'roots', 'trash'), ref('leaf', 'leaves', 'restrict')],
    });
    const root = await make('roots');
    const leaf = await make('leaves', { root });
    const second = await make('leaves', { root, leaf });
    expect((await send('DELETE', `roots/${root}`)).status).toBe(200);
    expect(await statesOf('leaves', [leaf, second])).toEqual(['trashed', 'trashed']);
  });
});

describe('the job', () => {
  test('checks again a minute later for documents inserted at the same moment', async () => {
    const post = await make('posts');
    await make('comments', { post });
    await send('DELETE', `posts/${post}`);
    const late = await make('comments', { post });
    await later(0);
    expect(await stateOf('comments', late)).toBe('active');
    await later(2);
    expect(await stateOf('comments', late)).toBe('trashed');
    await later(4);
    expect(await notes()).toEqual([]);
  });

  test('has no record when a deletion was rejected', async () => {
    const post = await make('posts');
    const stale = { headers: { 'if-match': '"7"' } };
    expect((await project.api('DELETE', `/api/data/posts/${post}`, stale)).status).toBe(412);
    expect((await send('DELETE', `posts/${'1'.repeat(24)}`)).status).toBe(404);
    expect(await notes()).toEqual([]);
  });

  test('leaves documents unchanged when a recorded deletion did not happen', async () => {
    const post = await make('posts');
    const comment = await make('comments', { owned: post });
    const now = new Date();
    await cascadeRecords.insertOne({
      ids: [new ObjectId(post)],
      collection: 'posts',
      _id: new ObjectId(),
      projectId: new ObjectId(project.id),
      database: 'main',
      kind: 'delete',
      wasActive: true,
      at: now,
      dueAt: now,
      createdAt: new Date(now.getTime() - 120_000),
    });
    await later(0);
    expect(await stateOf('comments', comment)).toBe('active');
    expect(await notes()).toEqual([]);
  });

  test('follows an account’s deletion, which the restrict of another document does not stop', async () => {
    const { accessToken: token, userId, password } = await project.newUser();
    const owned = await make('comments', { user: userId });
    const [author, reader] = [await make('comments', { author: userId }), await make('comments', { reader: userId })];
    await make('audits', { comment: owned });
    expect((await project.auth('DELETE', 'account', { token, body: { password } })).status).toBe(200);
    const states = () => statesOf('comments', [owned, author, reader]);
    await expect.poll(states, { timeout: 60_000 }).toEqual(['gone', 'active', 'trashed']);
    const authored = async () => (await send('GET', `comments/${author}`)).body;
    await expect.poll(authored, { timeout: 60_000 }).not.toHaveProperty('author');
  });

  test('exactly one of 50 concurrent deletions succeeds, and all references follow', async () => {
    const post = await make('posts');
    const comments = [await make('comments', { post }), await make('comments', { owned: post })];
    const like = await make('likes', { comment: comments[0] });
    const answers = await Promise.all(Array.from({ length: 50 }, () => send('DELETE', `posts/${post}${permanent}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(49);
    expect(await statesOf('comments', comments)).toEqual(['trashed', 'gone']);
    expect(await stateOf('likes', like)).toBe('trashed');
  });
});

describe('a schema', () => {
  const create = (name: string, schema: object[]) =>
    project.developer.dashboard('POST', `/api/projects/${project.id}/collections`, { name, schema });

  test.each<[string, object]>([
    ['unset of a required field', ref('a', 'posts', 'unset', { required: true })],
    [
      'unset of a required field inside',
      { key: 'a', type: 'Object', fields: [ref('b', 'posts', 'unset', { required: true })] },
    ],
    ['an unknown action', ref('a', 'posts', 'cascade')],
  ])('400 INVALID_SCHEMA for %s', async (_what, field) => {
    expect(await create(`x${new ObjectId()}`, [field])).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SCHEMA' },
    });
  });

  test('400 INVALID_SCHEMA for a reference in users that would delete accounts; unset is allowed', async () => {
    const path = `/api/projects/${project.id}/collections/users`;
    const { body } = await project.developer.dashboard<{ data: { schema: object[] } }>('GET', path);
    const edit = (field: object) => project.developer.dashboard('PUT', path, { schema: [...body.data.schema, field] });
    for (const action of ['trash', 'delete']) {
      expect(await edit(ref('team', 'posts', action))).toMatchObject({ status: 400, body: { code: 'INVALID_SCHEMA' } });
    }
    expect((await edit(ref('team', 'posts', 'unset'))).status).toBe(200);
    const post = await make('posts');
    const user = `/api/projects/${project.id}/users/${ann.userId}`;
    expect((await project.developer.dashboard('PATCH', user, { team: post })).status).toBe(200);
    await send('DELETE', `posts/${post}${permanent}`);
    const found = await project.developer.dashboard<{ data: object }>('GET', user);
    expect(found.body.data).not.toHaveProperty('team');
  });
});
