import { beforeAll, describe, expect, test } from 'vitest';
import { runTransfer } from '../../../shared/transfers/run-transfer.ts';
import { transferRecords } from '../../../shared/transfers/transfer.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { heldImport, idOf, recordOf } from '../../support/fixtures/transfers.ts';
import { newCredentials, newUsersProject, type UsersProject, users } from '../../support/fixtures/users.ts';

const nowhere = '1'.repeat(24);
const ref = (key: string, target: string, more: object = {}) => ({
  key,
  type: 'Ref',
  ref: target,
  exists: true,
  ...more,
});
const text = (key: string) => ({ key, type: 'String' });
const rules = { read: { team: 'red' }, create: true };

let project: UsersProject;
let ann: RequestOptions & { readonly userId: string };
let bob: RequestOptions & { readonly userId: string };

beforeAll(async () => {
  const teams = ref('team', 'posts');
  project = await newUsersProject({ collection: { ...users, schema: [...(users.schema ?? []), teams] } });
  await project.addCollection({ name: 'posts' });
  await project.addCollection({ name: 'fed', changes: true });
  await project.addCollection({ name: 'private', rls: { enabled: true, mode: 'private' } });
  await project.addCollection({ name: 'inside', rls: { enabled: true, mode: 'signed-in' } });
  const red = { enabled: true, mode: 'rules', ownerField: null, rules };
  await project.addCollection({ name: 'ruled', schema: [text('team')], rls: red });
  await project.addCollection({
    name: 'notes',
    schema: [
      ref('post', 'posts'),
      ref('fed', 'fed'),
      ref('mine', 'private'),
      ref('inside', 'inside'),
      ref('ruled', 'ruled'),
      ref('user', 'users'),
      ref('parent', 'notes'),
      ref('lost', 'nothing'),
      { key: 'loose', type: 'Ref', ref: 'posts' },
      { key: 'list', type: 'Array', items: { type: 'Ref', ref: 'posts', exists: true } },
      { key: 'in', type: 'Object', fields: [ref('post', 'posts')] },
      { key: 'parts', type: 'Array', items: { type: 'Object', fields: [ref('post', 'posts')] } },
    ],
    rls: { enabled: true, mode: 'public-read' },
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
  readonly errors?: readonly { readonly field: string; readonly index?: number }[];
}

const send = (method: string, path: string, body?: unknown, caller: RequestOptions = {}) =>
  project.api<Body>(method, `/api/data/${path}`, {
    ...(caller.key && { key: caller.key }),
    ...(caller.token && { token: caller.token }),
    ...(body === undefined ? {} : { body }),
  });
const make = async (name: string, body: object = {}, caller: RequestOptions = {}): Promise<string> =>
  (await send('POST', name, body, caller)).body._id;
const lost = (...fields: string[]) => ({
  status: 400,
  body: { code: 'VALIDATION_FAILED', errors: fields.map((field) => ({ field })) },
});

describe('a Ref with exists', () => {
  test('201 when the documents exist, at every depth, and for null and missing values', async () => {
    const post = await make('posts');
    const note = { post, list: [post, post], in: { post }, parts: [{ post }, {}], user: ann.userId };
    expect((await send('POST', 'notes', note)).status).toBe(201);
    expect((await send('POST', 'notes', { post: null, list: [], in: { post: null }, loose: nowhere })).status).toBe(
      201,
    );
  });

  test('400 VALIDATION_FAILED with every path whose document is missing, in one message', async () => {
    const post = await make('posts');
    const note = { post: nowhere, list: [post, nowhere], in: { post: nowhere }, parts: [{ post }, { post: nowhere }] };
    const answer = await send('POST', 'notes', note);
    expect(answer).toMatchObject(lost('post', 'list.1', 'in.post', 'parts.1.post'));
    const others = { user: nowhere, parent: nowhere, lost: nowhere, fed: nowhere };
    expect(await send('POST', 'notes', others)).toMatchObject(lost('user', 'parent', 'lost', 'fed'));
  });

  test('400 VALIDATION_FAILED for a trashed document, a tombstone, and in an update by a path', async () => {
    const [post, fed] = [await make('posts'), await make('fed')];
    const id = await make('notes', { post, fed, list: [post] });
    expect((await send('PATCH', `notes/${id}`, { 'list.1': post, 'in.post': post })).status).toBe(200);
    await send('DELETE', `posts/${post}`);
    await send('DELETE', `fed/${fed}?permanent=true`);
    expect(await send('POST', 'notes', { post, fed })).toMatchObject(lost('post', 'fed'));
    expect(await send('PATCH', `notes/${id}`, { 'list.1': post })).toMatchObject(lost('list.1'));
    expect(await send('PUT', `notes/${id}`, { parts: [{ post }], fed })).toMatchObject(lost('parts.0.post', 'fed'));
    expect((await send('PATCH', `notes/${id}`, { other: 1 })).status).toBe(200);
    await send('PATCH', `posts/${post}/recover`);
    expect((await send('PATCH', `notes/${id}`, { 'list.1': post })).status).toBe(200);
  });

  test('400 VALIDATION_FAILED with the index in a bulk insert; no document is stored', async () => {
    const post = await make('posts');
    const bulk = await send('POST', 'notes/bulk', [{ post }, { post: nowhere }, { in: { post: nowhere } }]);
    expect(bulk).toMatchObject({
      status: 400,
      body: {
        errors: [
          { index: 1, field: 'post' },
          { index: 2, field: 'in.post' },
        ],
      },
    });
    expect((await send('POST', 'notes/bulk', [{ post }, { post }])).status).toBe(201);
  });

  test('400 VALIDATION_FAILED for a document that the writer may not read, with the text for a missing one', async () => {
    const [mine, inside, red] = [
      await make('private', {}, ann),
      await make('inside', {}, ann),
      await make('ruled', { team: 'red' }),
    ];
    const blue = await make('ruled', { team: 'blue' });
    expect((await send('POST', 'notes', { mine, inside, ruled: red }, ann)).status).toBe(201);
    expect((await send('POST', 'notes', { inside, ruled: red, user: ann.userId }, bob)).status).toBe(201);
    const hidden = await send('POST', 'notes', { mine, ruled: blue }, bob);
    expect(hidden).toMatchObject(lost('mine', 'ruled'));
    const missing = await send('POST', 'notes', { mine: nowhere, ruled: nowhere }, bob);
    expect(hidden.body.errors).toEqual(missing.body.errors);
    expect((await send('POST', 'notes', { mine, ruled: blue })).status).toBe(201);
  });

  test('403 RLS_REQUIRED and 401 TOKEN_MISSING come before the 400', async () => {
    const key = { key: project.publishableKey };
    expect(await send('POST', 'notes', { post: nowhere }, key)).toMatchObject({ status: 401 });
  });

  test('403 FIELD_PROTECTED, 404, 403 NOT_OWNER and 412 of an update come before the 400', async () => {
    await project.addCollection({
      name: 'fixed',
      schema: [ref('post', 'posts', { write: 'server' }), ref('other', 'posts')],
      rls: { enabled: true },
    });
    const [post, id] = [await make('posts'), await make('fixed', {}, ann)];
    const lostBoth = { post: nowhere, other: nowhere };
    expect(await send('PATCH', `fixed/${id}`, lostBoth, ann)).toMatchObject({
      status: 403,
      body: { code: 'FIELD_PROTECTED', errors: [{ field: 'post' }] },
    });
    expect((await send('PATCH', `fixed/${nowhere}`, { other: nowhere }, ann)).status).toBe(404);
    const other = await send('PATCH', `fixed/${id}`, { other: nowhere }, bob);
    expect(other).toMatchObject({ status: 403, body: { code: 'NOT_OWNER' } });
    const stale = { key: ann.key ?? '', token: ann.token ?? '', headers: { 'if-match': '"7"' } };
    const body = { other: nowhere };
    expect((await project.api('PATCH', `/api/data/fixed/${id}`, { ...stale, body })).status).toBe(412);
    expect(await send('PATCH', `fixed/${id}`, { other: nowhere }, ann)).toMatchObject(lost('other'));
    expect((await send('PATCH', `fixed/${id}`, { other: post }, ann)).status).toBe(200);
  });

  test('400 of an update comes after the rule on the document', async () => {
    const denied = { enabled: true, mode: 'rules', ownerField: null, rules: { read: true, update: { open: true } } };
    const schema = [ref('post', 'posts'), { key: 'open', type: 'Boolean' }];
    await project.addCollection({ name: 'decided', schema, rls: denied });
    const [closed, open] = [await make('decided'), await make('decided', { open: true })];
    const update = (id: string) => send('PATCH', `decided/${id}`, { post: nowhere }, ann);
    expect(await update(closed)).toMatchObject({ status: 403, body: { code: 'RULE_DENIED' } });
    expect(await update(open)).toMatchObject(lost('post'));
  });

  test('applies to a PUT that inserts, and to sign-up, profile and users of the dashboard', async () => {
    const post = await make('posts');
    const put = { headers: { 'if-none-match': '*' }, body: { post: nowhere } };
    expect(await project.api('PUT', `/api/data/notes/${'2'.repeat(24)}`, put)).toMatchObject(lost('post'));
    expect(await project.signUp({ ...newCredentials(), team: nowhere })).toMatchObject(lost('team'));
    expect((await project.signUp({ ...newCredentials(), team: post })).status).toBe(201);
    const profile = (team: string) => project.auth('PUT', 'update-profile', { token: ann.token ?? '', body: { team } });
    expect(await profile(nowhere)).toMatchObject(lost('team'));
    expect((await profile(post)).status).toBe(200);
    const path = `/api/projects/${project.id}/users`;
    const created = { ...newCredentials(), team: nowhere };
    expect(await project.developer.dashboard('POST', path, created)).toMatchObject(lost('team'));
    expect(await project.developer.dashboard('PATCH', `${path}/${ann.userId}`, { team: nowhere })).toMatchObject(
      lost('team'),
    );
  });

  test('an import rejects lines with missing references, and lines of one batch may refer to each other', async () => {
    const [first, second] = ['3'.repeat(24), '4'.repeat(24)];
    const lines = [{ _id: first, parent: second }, { _id: second }, { post: nowhere, parent: first }, { n: 1 }];
    const held = await heldImport(project.id, 'notes', lines.map((line) => JSON.stringify(line)).join('\n'));
    await transferRecords.updateOne({ _id: held._id }, { $set: { keepIds: true } });
    await runTransfer(idOf(held));
    expect(await recordOf(held)).toMatchObject({ inserted: 3, rejected: 1, errors: [{ line: 3, field: 'post' }] });
  });

  test.each<[string, object]>([
    ['of another type', { key: 'a', type: 'String', exists: true }],
    ['that is not a Boolean', { key: 'a', type: 'Ref', ref: 'posts', exists: 'yes' }],
    ['of an Array itself', { key: 'a', type: 'Array', exists: true }],
  ])('400 INVALID_SCHEMA for exists %s', async (_what, field) => {
    const body = { name: `x${Math.random().toString(36).slice(2)}`, schema: [field] };
    expect(await project.developer.dashboard('POST', `/api/projects/${project.id}/collections`, body)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SCHEMA', errors: [{ field: 'a' }] },
    });
  });

  test('the schema contains exists, and edits keep it', async () => {
    const path = `/api/projects/${project.id}/collections/notes`;
    const { body } = await project.developer.dashboard<{ data: { schema: object[] } }>('GET', path);
    expect(body.data.schema[0]).toMatchObject({ key: 'post', ref: 'posts', exists: true });
    expect((await project.developer.dashboard('PUT', path, { schema: body.data.schema })).status).toBe(200);
  });
});
