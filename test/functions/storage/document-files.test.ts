import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { clock, dayMs } from '../../../shared/core/clock.ts';
import { deleteIfOrphan } from '../../../shared/documents/files.ts';
import { purgeProject } from '../../../shared/documents/store/purge.ts';
import { sweepUploads } from '../../../shared/files/cleanup.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { findProjectById } from '../../../shared/projects/find-project.ts';
import { projectRecords } from '../../../shared/projects/project.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { pixel, put, type Requested, read, uploadFile } from '../../support/fixtures/files.ts';
import { runGuide } from '../../support/fixtures/guide.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

interface Body extends Partial<Requested> {
  readonly _id: string;
  readonly code?: string;
  readonly errors?: readonly { readonly field?: string }[];
}

interface Listed {
  readonly code?: string;
  readonly data: {
    readonly items: readonly { readonly path: string; readonly visibility: string; readonly owner: string | null }[];
    readonly nextCursor?: string;
  };
}

interface Link {
  readonly url?: string;
  readonly expiresAt?: string;
  readonly error?: { readonly code: string };
}

type User = RequestOptions & { readonly userId: string };

let project: UsersProject;
let ann: User;
let bob: User;
let anyone: RequestOptions;
const secret: RequestOptions = {};

const signedIn = async (): Promise<User> => {
  const { accessToken, userId } = await project.newUser();
  return { key: project.publishableKey, token: accessToken, userId };
};

const inSpace = (more: object = {}) => ({
  space: { $in: { $from: 'members', select: 'space', where: { user: { $user: '_id' }, ...more } } },
});
const isMember = inSpace();
const isEditor = inSpace({ role: 'editor' });

beforeAll(async () => {
  project = await newUsersProject({ settings: { uploads: { users: true, types: ['text/plain', 'image/*'] } } });
  await project.addCollection({ name: 'public', rls: { enabled: true } });
  await project.addCollection({ name: 'private', rls: { enabled: true, mode: 'private' } });
  await project.addCollection({ name: 'inside', rls: { enabled: true, mode: 'signed-in' } });
  await project.addCollection({ name: 'open' });
  await project.addCollection({ name: 'safe', rls: { enabled: true, mode: 'private', requires: 'mfa' } });
  await project.addCollection({ name: 'fed', rls: { enabled: true }, changes: true });
  await project.addCollection({
    name: 'members',
    schema: [
      { key: 'space', type: 'String', required: true },
      { key: 'user', type: 'Ref', ref: 'users', onDelete: 'delete' },
      { key: 'role', type: 'String' },
    ],
  });
  await project.addCollection({
    name: 'cards',
    schema: [
      { key: 'space', type: 'String', required: true },
      { key: 'after', type: 'String' },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: null,
      rules: {
        read: isMember,
        create: isEditor,
        update: { before: isEditor, after: { space: 'none' } },
        delete: isEditor,
      },
    },
  });
  await project.addCollection({
    name: 'notes',
    schema: [
      { key: 'card', type: 'Ref', ref: 'public', onDelete: 'delete' },
      { key: 'user', type: 'Ref', ref: 'users', onDelete: 'delete' },
    ],
  });
  [ann, bob] = await Promise.all([signedIn(), signedIn()]);
  anyone = { key: project.publishableKey };
});

const api = <T = Body>(method: string, path: string, { key, token }: RequestOptions = {}, body?: unknown) =>
  project.api<T>(method, path, {
    ...(key && { key }),
    ...(token && { token }),
    ...(body === undefined ? {} : { body }),
  });

const make = async (collection: string, caller: RequestOptions = secret, body: object = {}): Promise<string> => {
  const { status, body: made } = await api('POST', `/api/data/${collection}`, caller, body);
  expect(status).toBe(201);
  return made._id;
};

const request = (caller: RequestOptions, collection: string, id: string, more: object = {}) =>
  api('POST', '/api/storage/upload-request', caller, {
    ...{ filename: 'a.txt', contentType: 'text/plain', size: 5, of: { collection, id } },
    ...more,
  });

const confirm = (caller: RequestOptions, filePath = '', size = 5) =>
  api('POST', '/api/storage/upload-confirm', caller, { filePath, size });

const attach = async (caller: RequestOptions, collection: string, id: string): Promise<string> => {
  const { status, body } = await request(caller, collection, id);
  expect([status, body.code]).toEqual([200, undefined]);
  expect(await put(body.signedUrl ?? '', 'hello')).toBe(200);
  expect(await confirm(caller, body.filePath)).toMatchObject({ status: 200, body: { url: null } });
  return body.filePath ?? '';
};

const list = (caller: RequestOptions, collection: string, id: string, more = '') =>
  api<Listed>('GET', `/api/storage/files?collection=${collection}&id=${id}${more}`, caller);

const pathsOf = async (caller: RequestOptions, collection: string, id: string): Promise<readonly string[]> => {
  const { status, body } = await list(caller, collection, id);
  expect(status).toBe(200);
  return body.data.items.map(({ path }) => path);
};

const sign = (caller: RequestOptions, paths: readonly string[], more: object = {}) =>
  api<{ code?: string; data: readonly Link[] }>('POST', '/api/storage/sign', caller, { paths, ...more });

const link = async (caller: RequestOptions, path: string): Promise<Link | undefined> =>
  (await sign(caller, [path])).body.data?.[0];

const remove = (caller: RequestOptions, path: string) => api('DELETE', '/api/storage/file', caller, { path });

const usage = async () => {
  const { body } = await project.developer.dashboard<{ data: { storageUsed: number } }>(
    'GET',
    `/api/projects/${project.id}/usage`,
  );
  return body.data.storageUsed;
};

const everyFile = async (): Promise<readonly string[]> => {
  const { body } = await project.developer.dashboard<{ data: { items: readonly { path: string }[] } }>(
    'GET',
    `/api/projects/${project.id}/storage/files?limit=100`,
  );
  return body.data.items.map(({ path }) => path);
};

const storedProject = async () => {
  const found = await findProjectById(project.id);
  if (!found) throw new Error('no project');
  return found;
};

/** Changes the owner of a private document, as another program would. */
const giveTo = async (id: string, { userId }: User): Promise<void> => {
  await onProject(await storedProject(), (db) =>
    db.collection('private').updateOne({ _id: new ObjectId(id) }, { $set: { userId } }),
  );
};

const refused = (status: number, code: string) => ({ status, body: { code } });

describe('a file of a document', () => {
  test('is private, listed with its document and not with the files of its user', async () => {
    const id = await make('public', ann);
    const path = await attach(ann, 'public', id);
    const { items } = (await list(ann, 'public', id)).body.data;
    expect(items).toMatchObject([{ path, visibility: 'private', owner: null, url: null }]);
    const own = await api<Listed>('GET', '/api/storage/files', ann);
    expect(own.body.data.items).toEqual([]);
    expect(await pathsOf(secret, 'public', id)).toEqual([path]);
    expect(await pathsOf(ann, 'public', await make('public', ann))).toEqual([]);
  });

  test('is listed in the dashboard with its document, and other files with none', async () => {
    const id = await make('public', ann);
    const path = await attach(secret, 'public', id);
    const { path: other } = await uploadFile(project, 'hello');
    const listed = await project.developer.dashboard<Listed>('GET', `/api/projects/${project.id}/storage/files`);
    expect(listed.body.data.items.filter((file) => [path, other].includes(file.path))).toMatchObject([
      { path: other, document: null },
      { path, document: { collection: 'public', id } },
    ]);
  });

  test('is readable by everyone who may read the document, also without a user, and the link opens it', async () => {
    const id = await make('public', ann);
    const path = await attach(ann, 'public', id);
    for (const caller of [ann, bob, anyone, secret]) {
      expect(await pathsOf(caller, 'public', id)).toEqual([path]);
      expect((await read((await link(caller, path))?.url ?? '')).text).toBe('hello');
    }
  });

  test('gets links of at most 300 seconds, in sizes too', async () => {
    const id = await make('public', ann);
    const asked = { contentType: 'image/png', filename: 'a.png', size: pixel.length };
    const { body } = await request(ann, 'public', id, asked);
    await put(body.signedUrl ?? '', pixel, 'image/png');
    expect((await confirm(ann, body.filePath, pixel.length)).status).toBe(200);
    const { data } = (await sign(bob, [body.filePath ?? ''], { expiresIn: 604_800, width: 64 })).body;
    expect(new Date(data[0]?.expiresAt ?? 0).getTime() - Date.now()).toBeLessThanOrEqual(300_000);
    expect(data[0]?.url).toContain('w=64');
    expect((await fetch(data[0]?.url ?? '')).status).toBe(200);
    const short = (await sign(bob, [body.filePath ?? ''], { expiresIn: 60 })).body.data;
    expect(new Date(short[0]?.expiresAt ?? 0).getTime() - Date.now()).toBeLessThanOrEqual(60_000);
  });

  test('belongs to the document only: its uploader has no right of their own', async () => {
    const id = await make('private', secret, { userId: ann.userId });
    const path = await attach(ann, 'private', id);
    await giveTo(id, bob);
    expect(await list(ann, 'private', id)).toMatchObject(refused(404, 'DOCUMENT_NOT_FOUND'));
    expect((await link(ann, path))?.error?.code).toBe('FILE_NOT_FOUND');
    expect(await remove(ann, path)).toMatchObject(refused(404, 'FILE_NOT_FOUND'));
    expect(await pathsOf(bob, 'private', id)).toEqual([path]);
    expect((await remove(bob, path)).status).toBe(200);
    expect(await pathsOf(bob, 'private', id)).toEqual([]);
  });

  test('is paged by 50, and filtered by names', async () => {
    const id = await make('public', ann);
    const paths: string[] = [];
    for (let i = 0; i < 3; i++) paths.unshift(await attach(ann, 'public', id));
    expect(await pathsOf(anyone, 'public', id)).toEqual(paths);
    expect((await list(anyone, 'public', id, '&prefix=b')).body.data.items).toEqual([]);
    expect(await list(anyone, 'public', id, '&cursor=x')).toMatchObject(refused(400, 'INVALID_CURSOR'));
  });
});

describe('attaching to a document', () => {
  test('400 VALIDATION_FAILED for a public file, and for a later change to public', async () => {
    const id = await make('public', ann);
    const { status, body } = await request(ann, 'public', id, { visibility: 'public' });
    expect([status, body.code, body.errors?.[0]?.field]).toEqual([400, 'VALIDATION_FAILED', 'visibility']);
    expect((await request(secret, 'public', id, { visibility: 'private' })).status).toBe(200);
    const path = await attach(secret, 'public', id);
    const change = (visibility: string) => api('PATCH', '/api/storage/file', secret, { path, visibility });
    expect(await change('public')).toMatchObject(refused(400, 'VALIDATION_FAILED'));
    expect((await change('private')).status).toBe(200);
    expect((await link(ann, path))?.url).toContain('/private/');
  });

  test.each([
    ['a collection alone', { collection: 'public' }],
    ['another member', { collection: 'public', id: '0'.repeat(24), since: 1 }],
    ['a text', 'public'],
  ])('400 VALIDATION_FAILED for an of with %s', async (_what, of) => {
    expect((await request(ann, 'public', '', { of })).body.code).toBe('VALIDATION_FAILED');
  });

  test('400 INVALID_ID and 400 INVALID_QUERY for a malformed document', async () => {
    expect(await request(ann, 'public', 'x')).toMatchObject(refused(400, 'INVALID_ID'));
    expect(await list(ann, 'public', 'x')).toMatchObject(refused(400, 'INVALID_ID'));
    for (const query of ['collection=public', `id=${'0'.repeat(24)}`])
      expect(await api('GET', `/api/storage/files?${query}`, ann)).toMatchObject(refused(400, 'INVALID_QUERY'));
  });

  test('401 TOKEN_MISSING and 401 TOKEN_INVALID when a valid user is needed', async () => {
    const id = await make('private', ann);
    const path = await attach(ann, 'private', id);
    const forged = { ...anyone, token: `${ann.token}x` };
    for (const [caller, code] of [
      [anyone, 'TOKEN_MISSING'],
      [forged, 'TOKEN_INVALID'],
    ] as const) {
      expect(await request(caller, 'private', id)).toMatchObject(refused(401, code));
      expect(await confirm(caller, path)).toMatchObject(refused(401, code));
      expect(await list(caller, 'private', id)).toMatchObject(refused(401, code));
      expect(await sign(caller, [path])).toMatchObject(refused(401, code));
      expect(await remove(caller, path)).toMatchObject(refused(401, code));
    }
    expect(await sign(anyone, [`${path}x`])).toMatchObject(refused(401, 'TOKEN_MISSING'));
    const open = await attach(ann, 'public', await make('public', ann));
    expect((await sign(anyone, [path, open])).body.data).toMatchObject([
      { error: { code: 'FILE_NOT_FOUND' } },
      { url: expect.stringContaining('/private/') },
    ]);
  });

  test('403 RLS_REQUIRED in a collection without row security; the secret key succeeds', async () => {
    const id = await make('open');
    expect(await request(ann, 'open', id)).toMatchObject(refused(403, 'RLS_REQUIRED'));
    const path = await attach(secret, 'open', id);
    expect(await pathsOf(anyone, 'open', id)).toEqual([path]);
    expect(await remove(ann, path)).toMatchObject(refused(403, 'RLS_REQUIRED'));
  });

  test('403 NOT_OWNER for a document that the caller may read only', async () => {
    for (const collection of ['public', 'inside']) {
      const id = await make(collection, ann);
      const path = await attach(ann, collection, id);
      expect(await request(bob, collection, id)).toMatchObject(refused(403, 'NOT_OWNER'));
      expect(await remove(bob, path)).toMatchObject(refused(403, 'NOT_OWNER'));
      expect(await pathsOf(bob, collection, id)).toEqual([path]);
    }
  });

  test('403 MFA_REQUIRED if the collection requires a second factor', async () => {
    const id = await make('safe', secret, { userId: ann.userId });
    const path = await attach(secret, 'safe', id);
    const strong = { key: project.publishableKey, token: await project.tokenFor(ann.userId, ['pwd', 'otp', 'mfa']) };
    expect(await request(ann, 'safe', id)).toMatchObject(refused(403, 'MFA_REQUIRED'));
    expect(await list(ann, 'safe', id)).toMatchObject(refused(403, 'MFA_REQUIRED'));
    expect((await link(ann, path))?.error?.code).toBe('FILE_NOT_FOUND');
    expect((await link(strong, path))?.url).toBeDefined();
    expect((await remove(strong, path)).status).toBe(200);
  });

  test('403 USERS_RESERVED for users, 404 COLLECTION_NOT_FOUND for an unknown collection', async () => {
    const { userId } = ann;
    expect(await request(ann, 'users', userId)).toMatchObject(refused(403, 'USERS_RESERVED'));
    expect(await list(secret, 'users', userId)).toMatchObject(refused(403, 'USERS_RESERVED'));
    expect(await request(secret, 'none', userId)).toMatchObject(refused(404, 'COLLECTION_NOT_FOUND'));
    expect(await list(secret, 'none', userId)).toMatchObject(refused(404, 'COLLECTION_NOT_FOUND'));
  });

  test('404 DOCUMENT_NOT_FOUND for a document that the caller may not read, or that does not exist', async () => {
    const id = await make('private', ann);
    for (const [caller, document] of [
      [bob, id],
      [ann, new ObjectId().toHexString()],
      [secret, new ObjectId().toHexString()],
    ] as const) {
      expect(await request(caller, 'private', document)).toMatchObject(refused(404, 'DOCUMENT_NOT_FOUND'));
      expect(await list(caller, 'private', document)).toMatchObject(refused(404, 'DOCUMENT_NOT_FOUND'));
    }
  });

  test('413 FILE_TOO_LARGE and 400 VALIDATION_FAILED as the settings of uploads say', async () => {
    const id = await make('public', ann);
    expect(await request(ann, 'public', id, { size: 10_485_761 })).toMatchObject(refused(413, 'FILE_TOO_LARGE'));
    const html = await request(ann, 'public', id, { contentType: 'text/html' });
    expect(html).toMatchObject(refused(400, 'VALIDATION_FAILED'));
  });

  test('is checked again at the confirmation, whose error keeps the reservation', async () => {
    const id = await make('private', ann);
    const { body } = await request(ann, 'private', id);
    await put(body.signedUrl ?? '', 'hello');
    expect(await confirm(bob, body.filePath)).toMatchObject(refused(404, 'DOCUMENT_NOT_FOUND'));
    await giveTo(id, bob);
    expect(await confirm(ann, body.filePath)).toMatchObject(refused(404, 'DOCUMENT_NOT_FOUND'));
    await giveTo(id, ann);
    expect((await confirm(ann, body.filePath)).status).toBe(200);
    const shown = await make('public', ann);
    const more = (await request(ann, 'public', shown)).body;
    await put(more.signedUrl ?? '', 'hello');
    expect(await confirm(bob, more.filePath)).toMatchObject(refused(403, 'NOT_OWNER'));
  });
});

describe('rules', () => {
  test('decide by the membership at the time of each request', async () => {
    const space = new ObjectId().toHexString();
    const card = await make('cards', secret, { space });
    const other = await make('cards', secret, { space: `${space}x` });
    const hidden = await attach(secret, 'cards', other);
    expect(await request(ann, 'cards', card)).toMatchObject(refused(404, 'DOCUMENT_NOT_FOUND'));
    const member = await make('members', secret, { space, user: ann.userId, role: 'reader' });
    const path = await attach(secret, 'cards', card);
    expect(await request(ann, 'cards', card)).toMatchObject(refused(403, 'RULE_DENIED'));
    expect(await remove(ann, path)).toMatchObject(refused(403, 'RULE_DENIED'));
    expect((await sign(ann, [path, hidden])).body.data).toMatchObject([
      { url: expect.any(String) },
      { error: { code: 'FILE_NOT_FOUND' } },
    ]);
    await api('PATCH', `/api/data/members/${member}`, secret, { role: 'editor' });
    // `after` denies every update of the document, which a file is not.
    const own = await attach(ann, 'cards', card);
    expect(await pathsOf(ann, 'cards', card)).toEqual([own, path]);
    expect((await remove(ann, path)).status).toBe(200);
    await api('DELETE', `/api/data/members/${member}?permanent=true`, secret);
    expect(await list(ann, 'cards', card)).toMatchObject(refused(404, 'DOCUMENT_NOT_FOUND'));
    expect((await link(ann, own))?.error?.code).toBe('FILE_NOT_FOUND');
    expect(await remove(ann, own)).toMatchObject(refused(404, 'FILE_NOT_FOUND'));
    expect(await list(anyone, 'cards', card)).toMatchObject(refused(401, 'TOKEN_MISSING'));
    expect(await pathsOf(secret, 'cards', card)).toEqual([own]);
  });

  test('none of 200 attempts to read, list, delete or attach reaches the file of another user’s document', async () => {
    const space = new ObjectId().toHexString();
    const targets = [
      ['private', await make('private', ann)],
      ['cards', await make('cards', secret, { space })],
    ] as const;
    let attempts = 0;
    for (const [collection, id] of targets) {
      const path = await attach(secret, collection, id);
      const waiting = (await request(secret, collection, id)).body;
      await put(waiting.signedUrl ?? '', 'hello');
      const callers = [bob, anyone, { ...anyone, token: `${ann.token}x` }, await signedIn()];
      const acts = [
        (caller: RequestOptions) => request(caller, collection, id),
        (caller: RequestOptions) => request(caller, collection, id, { visibility: 'private', size: 1 }),
        (caller: RequestOptions) => confirm(caller, waiting.filePath),
        (caller: RequestOptions) => confirm(caller, path),
        (caller: RequestOptions) => remove(caller, path),
        (caller: RequestOptions) => list(caller, collection, id),
        (caller: RequestOptions) => list(caller, collection, id.toUpperCase()),
        (caller: RequestOptions) => list(caller, collection, id, '&prefix=a'),
        (caller: RequestOptions) => api('POST', '/api/storage/upload-parts', caller, { filePath: waiting.filePath }),
        (caller: RequestOptions) => api('PATCH', '/api/storage/file', caller, { path, visibility: 'private' }),
        (caller: RequestOptions) => api('GET', `/api/storage/files?prefix=${path.slice(25)}`, caller),
        ...[[path], [path, path], [path, `${path}x`]].map((paths) => (caller: RequestOptions) => sign(caller, paths)),
        ...[64, 128].map((width) => (caller: RequestOptions) => sign(caller, [path], { width })),
        // The attacker's own document in another collection does not give access.
        async (caller: RequestOptions) => list(caller, 'public', id),
        (caller: RequestOptions) => list(caller, `${collection}#${id}`, id),
        (caller: RequestOptions) => list(caller, 'inside', id),
        (caller: RequestOptions) => list(caller, collection, `${id}#`),
        (caller: RequestOptions) => list(caller, '', id),
        (caller: RequestOptions) => request(caller, `${collection}#${id}`, id),
        (caller: RequestOptions) => request(caller, 'public', id),
        (caller: RequestOptions) => request(caller, collection, `${id}#0`),
        (caller: RequestOptions) => api('DELETE', '/api/storage/file', caller, { path: `${path}x` }),
      ];
      for (const caller of callers) {
        for (const act of acts) {
          attempts += 1;
          const { status, body } = await act(caller);
          const text = JSON.stringify(body);
          expect(text.includes('/private/') || text.includes('signedUrl'), text).toBe(false);
          if (status === 200) expect(JSON.stringify((body as Listed).data).includes('"size"'), text).toBe(false);
        }
      }
      expect(await pathsOf(secret, collection, id)).toEqual([path]);
    }
    expect(attempts).toBeGreaterThanOrEqual(200);
  });

  test('a document made again with the same id does not get the files of the deleted one', async () => {
    const id = await make('public', ann);
    const path = await attach(ann, 'public', id);
    await api('DELETE', `/api/data/public/${id}?permanent=true`, ann);
    const again = await project.api('PUT', `/api/data/public/${id}`, {
      ...bob,
      headers: { 'if-none-match': '*' },
      body: { mine: true },
    });
    expect(again.status).toBe(201);
    expect(await pathsOf(bob, 'public', id)).toEqual([]);
    expect((await link(bob, path))?.error?.code).toBe('FILE_NOT_FOUND');
    expect(await remove(bob, path)).toMatchObject(refused(404, 'FILE_NOT_FOUND'));
    await eventually(async () => expect(await everyFile()).not.toContain(path));
  });
});

describe('the end of a document', () => {
  /** Expects that the file leaves the lists, `sign` and the quota. */
  const isDeleted = async (path: string, before: number) => {
    await eventually(async () => {
      expect((await link(secret, path))?.error?.code).toBe('FILE_NOT_FOUND');
      expect(await everyFile()).not.toContain(path);
      expect(await usage()).toBe(before);
    });
  };

  test('the trash hides the files, and restoring shows them again', async () => {
    const id = await make('public', ann);
    const path = await attach(ann, 'public', id);
    expect((await api('DELETE', `/api/data/public/${id}`, ann)).status).toBe(200);
    for (const caller of [ann, secret]) {
      expect(await list(caller, 'public', id)).toMatchObject(refused(404, 'DOCUMENT_NOT_FOUND'));
      expect((await link(caller, path))?.error?.code).toBe('FILE_NOT_FOUND');
      expect(await remove(caller, path)).toMatchObject(refused(404, 'FILE_NOT_FOUND'));
      expect(await request(caller, 'public', id)).toMatchObject(refused(404, 'DOCUMENT_NOT_FOUND'));
    }
    expect((await api('PATCH', `/api/data/public/${id}/recover`, ann)).status).toBe(200);
    expect(await pathsOf(ann, 'public', id)).toEqual([path]);
  });

  test.each(['public', 'fed'])('a permanent deletion in %s deletes them, and ends their links', async (collection) => {
    const before = await usage();
    const id = await make(collection, ann);
    const path = await attach(ann, collection, id);
    expect(await usage()).toBe(before + 5);
    const { url = '' } = (await link(ann, path)) ?? {};
    expect((await api('DELETE', `/api/data/${collection}/${id}?permanent=true`, ann)).status).toBe(200);
    await isDeleted(path, before);
    await eventually(async () => expect((await fetch(url)).status).toBe(404));
  });

  test('an emptied trash deletes them', async () => {
    const before = await usage();
    const id = await make('public', ann);
    const path = await attach(ann, 'public', id);
    await api('DELETE', `/api/data/public/${id}`, ann);
    const trash = `/api/projects/${project.id}/collections/public/trash`;
    expect((await project.developer.dashboard('DELETE', trash)).status).toBe(200);
    await isDeleted(path, before);
  });

  test('the purge of the trash deletes them', async () => {
    const before = await usage();
    const id = await make('public', ann);
    const path = await attach(ann, 'public', id);
    await api('DELETE', `/api/data/public/${id}`, ann);
    const of = await storedProject();
    const old = { deletedAt: new Date(Date.now() - 31 * dayMs) };
    await onProject(of, (db) => db.collection('public').updateOne({ _id: new ObjectId(id) }, { $set: old }));
    await purgeProject(of);
    await isDeleted(path, before);
  });

  test('a deletion of many documents, and one of a document that they refer to, deletes them', async () => {
    const before = await usage();
    const card = await make('public', ann);
    const [one, two] = [await make('notes', secret, { card }), await make('notes', secret, {})];
    const paths = [await attach(secret, 'notes', one), await attach(secret, 'notes', two)];
    expect((await api('DELETE', `/api/data/public/${card}?permanent=true`, ann)).status).toBe(200);
    await isDeleted(paths[0] ?? '', before + 5);
    const where = { _id: { $exists: true } };
    expect((await api('POST', '/api/data/notes/delete', secret, { where, permanent: true })).status).toBe(200);
    await isDeleted(paths[1] ?? '', before);
  });

  test('the end of an account deletes those of documents that end with it', async () => {
    const before = await usage();
    const user = await signedIn();
    const id = await make('notes', secret, { user: user.userId });
    const path = await attach(secret, 'notes', id);
    const ended = await project.developer.dashboard('DELETE', `/api/projects/${project.id}/users/${user.userId}`);
    expect(ended.status).toBe(200);
    await isDeleted(path, before);
  });

  test('a deleted collection deletes them, and one of the same name starts without files', async () => {
    const before = await usage();
    await project.addCollection({ name: 'brief', rls: { enabled: true } });
    const ids = [await make('brief', ann), await make('brief', ann)];
    const paths = [await attach(ann, 'brief', ids[0] ?? ''), await attach(ann, 'brief', ids[1] ?? '')];
    const ended = await project.developer.dashboard('DELETE', `/api/projects/${project.id}/collections/brief`);
    expect(ended.status).toBe(200);
    for (const path of paths) await isDeleted(path, before);
  });

  test('a deletion that did not know of files yet is made up for by the clean-up', async () => {
    const before = await usage();
    const id = await make('inside', ann);
    const path = await attach(ann, 'inside', id);
    await onProject(await storedProject(), (db) => db.collection('inside').deleteOne({ _id: new ObjectId(id) }));
    const keptId = await make('inside', ann);
    const stays = await attach(ann, 'inside', keptId);
    vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + 40 * 60_000);
    try {
      await sweepUploads(undefined, deleteIfOrphan);
    } finally {
      vi.restoreAllMocks();
    }
    await isDeleted(path, before + 5);
    expect(await pathsOf(ann, 'inside', keptId)).toEqual([stays]);
  });

  test('documents of collections without files are deleted without a note', async () => {
    const record = await projectRecords.findOne({ _id: new ObjectId(project.id) });
    expect(record?.attached).toContain('public');
    expect(record?.attached).not.toContain('members');
  });
});

describe('quotas', () => {
  test('403 USER_QUOTA_EXCEEDED: files of documents count for the user who uploads them until they are deleted', async () => {
    const user = await signedIn();
    const id = await make('public', user);
    for (let i = 0; i < 20; i++) expect((await request(user, 'public', id)).status).toBe(200);
    expect(await request(user, 'public', id)).toMatchObject(refused(403, 'USER_QUOTA_EXCEEDED'));
  });
});

test('the guide attaches a file to a document, lists it and opens it', async () => {
  const { answers } = await runGuide('guides/private-files.md', project);
  const [listed = '', opened] = answers.slice(-2);
  expect(JSON.parse(listed)).toMatchObject({ data: { items: [{ name: 'map.txt', visibility: 'private' }] } });
  expect(opened).toBe('hello');
});
