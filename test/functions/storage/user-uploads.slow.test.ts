import { beforeAll, describe, expect, test } from 'vitest';
import { put, type Requested, read } from '../../support/fixtures/files.ts';
import { newUsersProject, type SignIn, type UsersProject } from '../../support/fixtures/users.ts';

interface Listed {
  readonly data: {
    readonly items: readonly { readonly path: string; readonly name: string; readonly visibility: string }[];
    readonly nextCursor?: string;
  };
  readonly code?: string;
}

const png = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'),
  Buffer.alloc(40),
]);

let project: UsersProject;
let closed: UsersProject;
let ann: SignIn;
let bob: SignIn;

beforeAll(async () => {
  const uploads = { users: true, maxBytes: 5000, types: ['image/*', 'text/plain', 'application/pdf'] };
  [project, closed] = await Promise.all([newUsersProject({ settings: { uploads } }), newUsersProject()]);
  [ann, bob] = await Promise.all([project.newUser(), project.newUser()]);
});

const as = (user: SignIn | undefined, of = project) => ({
  key: of.publishableKey,
  ...(user && { token: user.accessToken }),
});

const request = (user: SignIn | undefined, body: object = {}, of = project) =>
  of.api<Requested & { code?: string; errors?: { field: string }[] }>('POST', '/api/storage/upload-request', {
    ...as(user, of),
    body: { filename: 'a.txt', contentType: 'text/plain', size: 5, ...body },
  });

const confirm = (user: SignIn | undefined, filePath: string, size: number) =>
  project.api<{ url: string | null; code?: string }>('POST', '/api/storage/upload-confirm', {
    ...as(user),
    body: { filePath, size },
  });

const upload = async (user: SignIn, bytes: Buffer | string, more: object = {}, contentType = 'text/plain') => {
  const size = Buffer.byteLength(bytes);
  const { status, body } = await request(user, { contentType, size, ...more });
  expect(status).toBe(200);
  expect(await put(body.signedUrl, bytes, contentType)).toBe(200);
  return { path: body.filePath, confirmed: await confirm(user, body.filePath, size) };
};

const list = (user: SignIn | undefined, query = '', of = project) =>
  of.api<Listed>('GET', `/api/storage/files${query}`, as(user, of));

const remove = (user: SignIn, path: string) =>
  project.api<{ code?: string }>('DELETE', '/api/storage/file', { ...as(user), body: { path } });

describe('an upload by a user', () => {
  test('is private and the user’s own by default', async () => {
    const { path, confirmed } = await upload(ann, 'hello');
    expect(confirmed).toMatchObject({ status: 200, body: { url: null } });
    const { body } = await project.api<{ data: { url: string }[] }>('POST', '/api/storage/sign', {
      ...as(ann),
      body: { paths: [path] },
    });
    expect((await read(body.data[0]?.url ?? '')).text).toBe('hello');
    const shown = await upload(ann, 'shown', { visibility: 'public' });
    expect((await read(shown.confirmed.body.url)).text).toBe('shown');
  });

  test('403 SECRET_KEY_REQUIRED when the project does not allow it', async () => {
    const user = await closed.newUser();
    expect(await request(user, {}, closed)).toMatchObject({ status: 403, body: { code: 'SECRET_KEY_REQUIRED' } });
  });

  test('401 without a token or with an invalid one', async () => {
    expect(await request(undefined)).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
    const stranger = { ...ann, accessToken: `${ann.accessToken}x` };
    expect(await request(stranger)).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });

  test('413 FILE_TOO_LARGE over the project’s limit, which does not bind the secret key', async () => {
    expect(await request(ann, { size: 5001 })).toMatchObject({ status: 413, body: { code: 'FILE_TOO_LARGE' } });
    expect((await request(ann, { size: 5000 })).status).toBe(200);
    const body = { filename: 'a.txt', contentType: 'text/html', size: 5001 };
    expect((await project.api('POST', '/api/storage/upload-request', { body })).status).toBe(200);
  });

  test.each(['text/html', 'image', 'application/zip', 'text/plainx', 'ximage/png'])(
    '400 VALIDATION_FAILED for the type %s, which is not allowed',
    async (contentType) => {
      const { status, body } = await request(ann, { contentType });
      expect([status, body.code, body.errors?.[0]?.field]).toEqual([400, 'VALIDATION_FAILED', 'contentType']);
    },
  );

  test('404 FILE_NOT_FOUND when it confirms or deletes a file of another user or of no user', async () => {
    const { signedUrl, filePath } = (await request(ann)).body;
    await put(signedUrl, 'hello');
    expect(await confirm(bob, filePath, 5)).toMatchObject({ status: 404, body: { code: 'FILE_NOT_FOUND' } });
    expect((await confirm(ann, filePath, 5)).status).toBe(200);
    expect(await remove(bob, filePath)).toMatchObject({ status: 404, body: { code: 'FILE_NOT_FOUND' } });
    expect((await remove(ann, filePath)).status).toBe(200);
    expect((await remove(ann, filePath)).status).toBe(404);
  });
});

describe('the content of an upload by a user', () => {
  test.each([
    ['a picture as itself', png, 'image/png'],
    ['text as itself', 'hello', 'text/plain; charset=utf-8'],
    ['SVG, which is text', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    ['a document', '%PDF-1.7\n%âãÏÓ\n', 'application/pdf'],
  ])('is accepted: %s', async (_what, bytes, contentType) => {
    expect((await upload(ann, bytes, {}, contentType)).confirmed.status).toBe(200);
  });

  test.each([
    ['HTML as a picture', '<html><script>alert(1)</script>', 'image/png'],
    ['a picture as another', png, 'image/jpeg'],
    ['a picture as text', png, 'text/plain'],
    ['a picture that is cut off in its first bytes', png.subarray(0, 4), 'image/png'],
    ['a program as a picture', Buffer.concat([Buffer.from('7f454c4602010100', 'hex'), Buffer.alloc(60)]), 'image/gif'],
    ['a picture as a document', png, 'application/pdf'],
  ])('400 CONTENT_TYPE_MISMATCH %s; nothing is charged', async (_what, bytes, contentType) => {
    const { path, confirmed } = await upload(ann, bytes, {}, contentType);
    expect(confirmed).toMatchObject({ status: 400, body: { code: 'CONTENT_TYPE_MISMATCH' } });
    expect((await list(ann)).body.data.items.map((item) => item.path)).not.toContain(path);
  });
});

describe('the list of a user’s files', () => {
  test('contains only their own, newest first, by the prefix of their names, in pages', async () => {
    const [cat, dan] = [await project.newUser(), await project.newUser()];
    const paths: string[] = [];
    for (let at = 0; at < 52; at++) {
      const filename = at % 2 === 0 ? `even-${at}.txt` : `odd-${at}.txt`;
      paths.unshift((await upload(cat, 'hello', { filename })).path);
    }
    const his = (await upload(dan, 'hello')).path;
    const first = (await list(cat)).body.data;
    expect(first.items.map(({ path }) => path)).toEqual(paths.slice(0, 50));
    expect(first.items[0]).toMatchObject({ name: 'odd-51.txt', visibility: 'private' });
    const second = (await list(cat, `?cursor=${first.nextCursor}`)).body.data;
    expect([second.items.map(({ path }) => path), second.nextCursor]).toEqual([paths.slice(50), undefined]);
    const even = (await list(cat, '?prefix=even')).body.data;
    expect(even.items).toHaveLength(25);
    expect((await list(dan)).body.data.items.map(({ path }) => path)).toEqual([his]);
    expect((await remove(cat, paths[0] ?? '')).status).toBe(200);
    expect((await list(cat)).body.data.items.map(({ path }) => path)).toEqual(paths.slice(1, 51));
  });

  test('400 INVALID_CURSOR for a cursor of another list', async () => {
    for (const cursor of ['x', '../..', Buffer.from('a#b').toString('base64url')]) {
      expect(await list(ann, `?cursor=${cursor}`)).toMatchObject({ status: 400, body: { code: 'INVALID_CURSOR' } });
    }
  });

  test('400 INVALID_QUERY for an unknown parameter', async () => {
    expect(await list(ann, '?limit=5')).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });

  test('401 TOKEN_MISSING without a token', async () => {
    expect(await list(undefined)).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
  });
});
