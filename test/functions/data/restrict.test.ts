import { beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/clients/client.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

const restricted = (key: string, target: string) => ({ key, type: 'Ref', ref: target, onDelete: 'restrict' });

let project: UsersProject;
let ann: RequestOptions & { readonly userId: string };
let bob: RequestOptions & { readonly userId: string };

beforeAll(async () => {
  project = await newUsersProject();
  await project.addCollection({ name: 'posts', rls: { enabled: true } });
  await project.addCollection({ name: 'fed', changes: true });
  await project.addCollection({ name: 'hidden', rls: { enabled: true, mode: 'private' } });
  const ofPosts = { type: 'Ref', ref: 'posts', onDelete: 'restrict' };
  await project.addCollection({
    name: 'notes',
    schema: [
      restricted('post', 'posts'),
      restricted('fed', 'fed'),
      restricted('hidden', 'hidden'),
      restricted('user', 'users'),
      restricted('parent', 'notes'),
      { key: 'loose', type: 'Ref', ref: 'posts', onDelete: 'none' },
      { key: 'list', type: 'Array', items: ofPosts },
      { key: 'parts', type: 'Array', items: { type: 'Object', fields: [{ key: 'post', ...ofPosts }] } },
    ],
    rls: { enabled: true, mode: 'private' },
  });
  const signedUp = async () => {
    const { accessToken, userId } = await project.newUser();
    return { key: project.publishableKey, token: accessToken, userId };
  };
  [ann, bob] = [await signedUp(), await signedUp()];
});

interface Body {
  readonly _id: string;
  readonly code?: string;
  readonly errors?: readonly object[];
}

const send = (method: string, path: string, body?: unknown, caller: RequestOptions = {}) =>
  project.api<Body>(method, `/api/data/${path}`, {
    ...(caller.key && { key: caller.key }),
    ...(caller.token && { token: caller.token }),
    ...(body === undefined ? {} : { body }),
  });
const make = async (name: string, body: object = {}, caller: RequestOptions = {}): Promise<string> =>
  (await send('POST', name, body, caller)).body._id;
const referenced = (...errors: object[]) => ({ status: 409, body: { code: 'STILL_REFERENCED', errors } });
const permanent = '?permanent=true';

describe('a Ref with onDelete restrict', () => {
  test.each([
    ['at the top', 'post', (id: string) => ({ post: id })],
    ['in an array', 'list', (id: string) => ({ list: ['1'.repeat(24), id] })],
    ['in an object of an array', 'parts.post', (id: string) => ({ parts: [{}, { post: id }] })],
  ])(
    '409 STILL_REFERENCED for trash and permanent deletion while a document refers to it, %s',
    async (_at, field, of) => {
      const post = await make('posts');
      const notes = [await make('notes', of(post)), await make('notes', of(post))];
      const refused = referenced({ field, collection: 'notes', count: 2 });
      expect(await send('DELETE', `posts/${post}`)).toMatchObject(refused);
      expect(await send('DELETE', `posts/${post}${permanent}`)).toMatchObject(refused);
      expect((await send('GET', `posts/${post}`)).status).toBe(200);
      await send('DELETE', `notes/${notes[0]}`);
      expect(await send('DELETE', `posts/${post}`)).toMatchObject(referenced({ field, count: 1 }));
      await send('DELETE', `notes/${notes[1]}`);
      expect((await send('DELETE', `posts/${post}`)).status).toBe(200);
      expect((await send('DELETE', `posts/${post}${permanent}`)).status).toBe(200);
    },
  );

  test('200 for permanently deleting a trashed document that no active document refers to', async () => {
    const post = await make('posts');
    await send('DELETE', `posts/${post}`);
    await make('notes', { post });
    expect((await send('DELETE', `posts/${post}${permanent}`)).status).toBe(200);
  });

  test('409 STILL_REFERENCED in a collection with a changes feed; the document stays', async () => {
    const fed = await make('fed');
    const note = await make('notes', { fed });
    expect(await send('DELETE', `fed/${fed}${permanent}`)).toMatchObject(referenced({ field: 'fed', count: 1 }));
    expect((await send('GET', `fed/${fed}`)).status).toBe(200);
    await send('PATCH', `notes/${note}`, { fed: null });
    expect((await send('DELETE', `fed/${fed}${permanent}`)).status).toBe(200);
    expect((await send('GET', `fed/${fed}`)).status).toBe(404);
  });

  test('a reference to itself, or with onDelete none, does not prevent a deletion', async () => {
    const [self, post] = [await make('notes'), await make('posts')];
    await send('PATCH', `notes/${self}`, { parent: self });
    await make('notes', { loose: post });
    expect((await send('DELETE', `notes/${self}`)).status).toBe(200);
    expect((await send('DELETE', `posts/${post}`)).status).toBe(200);
    const parent = await make('notes');
    await make('notes', { parent });
    expect(await send('DELETE', `notes/${parent}`)).toMatchObject(referenced({ field: 'parent', collection: 'notes' }));
  });

  test('callers with the publishable key get only the collection name, and only for documents they may delete', async () => {
    const [post, hidden] = [await make('posts', {}, ann), await make('hidden', {}, ann)];
    await make('notes', { post, hidden }, bob);
    const answer = await send('DELETE', `posts/${post}`, undefined, ann);
    expect(answer).toMatchObject({ status: 409, body: { code: 'STILL_REFERENCED' } });
    expect(answer.body.errors).toEqual([
      { collection: 'notes', message: '"notes" refers to this document, or to one that would be deleted with it' },
    ]);
    expect(await send('DELETE', `posts/${post}`, undefined, bob)).toMatchObject({ status: 403 });
    const missing = await send('DELETE', `hidden/${'1'.repeat(24)}`, undefined, bob);
    const others = await send('DELETE', `hidden/${hidden}`, undefined, bob);
    expect([others.status, missing.status]).toEqual([403, 404]);
  });

  test('409 STILL_REFERENCED with only the collection name when a permanent deletion of a user has effects', async () => {
    await project.addCollection({
      name: 'boards',
      rls: { enabled: true },
      effects: [{ on: ['delete'], writes: [{ op: 'insert', collection: 'fed', document: {} }] }],
    });
    await project.addCollection({
      name: 'cards',
      schema: [restricted('board', 'boards')],
      rls: { enabled: true, mode: 'private' },
    });
    const board = await make('boards', {}, ann);
    const card = await make('cards', { board }, bob);
    const answer = await send('DELETE', `boards/${board}${permanent}`, undefined, ann);
    expect(answer).toMatchObject({ status: 409, body: { code: 'STILL_REFERENCED' } });
    expect(answer.body.errors).toEqual([
      { collection: 'cards', message: '"cards" refers to this document, or to one that would be deleted with it' },
    ]);
    expect((await send('GET', `boards/${board}`)).status).toBe(200);
    await send('DELETE', `cards/${card}`);
    expect((await send('DELETE', `boards/${board}${permanent}`, undefined, ann)).status).toBe(200);
  });

  test('409 EFFECT_REFUSED without the field of a reference when an effect deletes what a document refers to', async () => {
    await project.addCollection({
      name: 'tables',
      schema: [{ key: 'post', type: 'Ref', ref: 'posts' }],
      rls: { enabled: true },
      effects: [{ on: ['delete'], writes: [{ op: 'delete', collection: 'posts', id: { $doc: 'post' } }] }],
    });
    const post = await make('posts', {}, ann);
    const table = await make('tables', { post }, ann);
    const note = await make('notes', { post }, bob);
    const answer = await send('DELETE', `tables/${table}`, undefined, ann);
    expect(answer).toMatchObject({ status: 409, body: { code: 'EFFECT_REFUSED' } });
    expect(JSON.stringify(answer.body.errors)).toContain('notes');
    expect(JSON.stringify(answer.body.errors)).not.toMatch(/"field"|in \\"post/);
    await send('DELETE', `notes/${note}`);
    expect((await send('DELETE', `tables/${table}`, undefined, ann)).status).toBe(200);
  });

  test('412 REVISION_MISMATCH for an old revision when nothing refers to the document', async () => {
    const post = await make('posts');
    const remove = (tag: string) => project.api('DELETE', `/api/data/posts/${post}`, { headers: { 'if-match': tag } });
    expect(await remove('"7"')).toMatchObject({ status: 412, body: { code: 'REVISION_MISMATCH' } });
    expect((await remove('"1"')).status).toBe(200);
  });

  test('409 STILL_REFERENCED for a user in the dashboard, but users can delete their own account', async () => {
    const carol = await project.newUser();
    await make('notes', { user: carol.userId });
    const path = `/api/projects/${project.id}/users/${carol.userId}`;
    expect(await project.developer.dashboard('DELETE', path)).toMatchObject(
      referenced({ field: 'user', collection: 'notes', count: 1 }),
    );
    const body = { password: carol.password };
    expect((await project.auth('DELETE', 'account', { token: carol.accessToken, body })).status).toBe(200);
    const dave = await project.newUser();
    expect((await project.developer.dashboard('DELETE', path.replace(carol.userId, dave.userId))).status).toBe(200);
  });

  test('starts and ends with an edit of the schema', async () => {
    await project.addCollection({ name: 'late', schema: [{ key: 'post', type: 'Ref', ref: 'posts' }] });
    const post = await make('posts');
    await make('late', { post });
    const edit = (schema: object[]) =>
      project.developer.dashboard('PUT', `/api/projects/${project.id}/collections/late`, { schema });
    expect((await edit([restricted('post', 'posts')])).status).toBe(200);
    await expect
      .poll(async () => (await send('DELETE', `posts/${post}`)).body, { timeout: 15_000 })
      .toMatchObject({ code: 'STILL_REFERENCED' });
    expect((await edit([{ key: 'post', type: 'Ref', ref: 'posts' }])).status).toBe(200);
    await expect.poll(async () => (await send('DELETE', `posts/${post}`)).status, { timeout: 15_000 }).toBe(200);
  });

  test.each<[string, object]>([
    ['of another type', { key: 'a', type: 'String', onDelete: 'restrict' }],
    ['of an unknown kind', { key: 'a', type: 'Ref', ref: 'posts', onDelete: 'cascade' }],
    [
      'in an array of arrays',
      { key: 'a', type: 'Array', items: { type: 'Array', items: { type: 'Ref', ref: 'posts', onDelete: 'restrict' } } },
    ],
  ])('400 INVALID_SCHEMA for onDelete %s', async (_what, field) => {
    const body = { name: `x${Math.random().toString(36).slice(2)}`, schema: [field] };
    expect(await project.developer.dashboard('POST', `/api/projects/${project.id}/collections`, body)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SCHEMA' },
    });
  });
});
