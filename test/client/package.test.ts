import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientFolder } from '../../infra/build/client.ts';
import { noRowSecurity } from '../../shared/collections/collection.ts';
import { parseSchema } from '../../shared/collections/schema/schema.ts';
import { typesText } from '../../shared/documents/types/types-text.ts';
import { compile, expecting } from '../support/clients/compile.ts';

const run = promisify(execFile);
/** The most that an app loads at first. */
const maxBytes = 5.5 * 1024;
/** The most that an app with live updates loads. Apps load them when they first subscribe. */
const maxLiveBytes = 8.25 * 1024;
/** The most that an app with presence loads. */
const maxPresenceBytes = 8.25 * 1024;

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
let packed: Packed | undefined;

/** Builds the package as it is published, and unpacks it. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'basalt-client-'));
  const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };
  const { stdout } = await run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', folder], {
    cwd: clientFolder,
    env,
  });
  [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as Packed[];
  await run('tar', ['-xzf', join(folder, packed?.filename ?? ''), '-C', folder]);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const read = (path: string): string => readFileSync(join(folder, 'package', path), 'utf8');

describe('the published package @basalt/client', () => {
  test('contains only scripts, types, README, licence and manifest', () => {
    const others = packed?.files.map(({ path }) => path).filter((path) => !/^dist\/[\w-]+\.d\.ts$/.test(path));
    expect(others?.sort()).toEqual([
      'LICENSE',
      'README.md',
      'dist/chunk.js',
      'dist/index.js',
      'dist/live.js',
      'dist/presence.js',
      'dist/upload.js',
      'package.json',
    ]);
  });

  test(`is at most ${maxBytes} bytes, minified and gzipped, with live updates ${maxLiveBytes}`, () => {
    const [script, live, presence, socket] = ['index', 'live', 'presence', 'chunk'].map((name) =>
      read(`dist/${name}.js`),
    ) as [string, string, string, string];
    const bytesOf = (text: string): number => gzipSync(text, { level: 9 }).length;
    expect(bytesOf(script)).toBeLessThanOrEqual(maxBytes);
    expect(bytesOf(script) + bytesOf(live) + bytesOf(socket)).toBeLessThanOrEqual(maxLiveBytes);
    expect(bytesOf(script) + bytesOf(presence) + bytesOf(socket)).toBeLessThanOrEqual(maxPresenceBytes);
    // Node prints the whole source line of an uncaught error, so lines must be short.
    expect(Math.max(...script.split('\n').map(({ length }) => length))).toBeLessThan(2000);
    const imported = new Set(script.match(/\bimport\b.*?\)/g));
    expect(imported).toEqual(new Set(['import("./upload.js")', 'import("./live.js")']));
    for (const text of [live, presence]) {
      expect(text.match(/\bimport\b.*?;/g)).toEqual([expect.stringMatching(/^import\{.*\}from"\.\/chunk\.js";$/)]);
    }
    expect(socket).not.toMatch(/\bimport\b/);
    expect(read('dist/upload.js')).not.toMatch(/\bimport\b/);
  });

  test('has no dependencies, the licence and version of the service, and an entry for its types', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, unknown>;
    const { version, license } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, unknown>;
    expect(manifest).toMatchObject({ name: '@basalt/client', version, license, type: 'module', sideEffects: false });
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest.exports).toEqual({
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './presence': { types: './dist/presence.d.ts', default: './dist/presence.js' },
    });
    expect(read('LICENSE')).toBe(readFileSync('LICENSE', 'utf8'));
  });

  test('imports only types that it contains', () => {
    const types = globSync('dist/*.d.ts', { cwd: join(folder, 'package') });
    const named = types.flatMap((file) => [...read(file).matchAll(/from '([^']+)'/g)].map(([, path = '']) => path));
    expect(named.length).toBeGreaterThan(5);
    for (const path of named) expect(types).toContain(`dist/${path.replace('./', '').replace(/\.js$/, '.d.ts')}`);
  });
});

const schema = typesText(
  [
    {
      name: 'posts',
      schema: parseSchema([
        { key: 'title', type: 'String', required: true },
        { key: 'views', type: 'Number' },
        { key: 'tags', type: 'Array', items: { type: 'String' } },
        { key: 'address', type: 'Object', fields: [{ key: 'city', type: 'String' }] },
        { key: 'author', type: 'Ref', ref: 'users' },
        { key: 'after', type: 'Ref', ref: 'posts' },
        { key: 'notes', type: 'Array', items: { type: 'Ref', ref: 'notes' } },
        {
          key: 'parts',
          type: 'Array',
          items: { type: 'Object', fields: [{ key: 'post', type: 'Ref', ref: 'posts' }] },
        },
        { key: 'gone', type: 'Ref', ref: 'nothing' },
      ]),
      rls: { ...noRowSecurity, enabled: true },
    },
    { name: 'notes', schema: null, rls: noRowSecurity },
    { name: 'mail', schema: null, rls: noRowSecurity },
    {
      name: 'users',
      schema: parseSchema([
        { key: 'email', type: 'String', required: true },
        { key: 'password', type: 'String', required: true },
        { key: 'name', type: 'String' },
      ]),
      rls: noRowSecurity,
    },
  ],
  'secret',
);

const right = [
  "const p = await app.posts.get('x', { populate: 'author' }); const t: string = p.title; const v: number | null | undefined = p.views;",
  "const { author } = await app.posts.get('x', { populate: 'author' }); if (typeof author === 'object') author?.name satisfies string | null | undefined; const id: string | null | undefined = (await app.posts.get('x')).author;",
  "const { after } = await app.posts.get('x', { populate: 'after' }); if (typeof after === 'object') after?.after satisfies string | null | undefined;",
  "const { items } = await app.posts.list({ populate: ['notes', 'parts.post', 'gone'] }); for (const { notes, parts, gone, author } of items) { for (const note of notes ?? []) if (typeof note === 'object') note?._id satisfies string | undefined; for (const { post } of parts ?? []) if (typeof post === 'object') post?.title satisfies string | undefined; gone satisfies string | null | undefined; author satisfies string | null | undefined; }",
  "for await (const { _id, author } of app.posts.each({ populate: 'author', fields: 'author' })) { _id satisfies string; if (typeof author === 'object') author?.createdAt satisfies string | undefined; }",
  "await app.collection('notes').list({ where: { a: 1 } }); await basalt('http://x', 'k').whatever?.list({ populate: 'anything' });",
  "await app.posts.list({ where: { title: { $contains: 'a' }, $or: [{ views: { $gte: 5 } }] }, sort: ['-views', 'title:asc'], limit: 5 });",
  "const { items, nextCursor } = await app.posts.list({ fields: ['title', 'address.city'], cursor: '' }); items[0]?.title; items[0]?.address?.city; items[0]?._id;",
  "for await (const { views } of app.posts.each({ sort: '-createdAt', fields: 'views' })) views satisfies number | null | undefined;",
  "await app.posts.update('x', { 'address.city': 'Rome', 'tags.0': 'a', views: null });",
  "await app.posts.update('x', { title: 'a', $inc: { views: 1 }, $push: { tags: 'a' }, $addToSet: { tags: { $each: ['b'] } }, $unset: ['address.city'] }, { where: { views: { $gte: 1 } } });",
  "await app.posts.update('x', { $pull: { tags: { $startsWith: 'a' } }, $max: { views: 5 } }); await app.posts.delete('x', { where: { title: 'a' } }); await app.notes.update('x', { $inc: { n: 1 } }, { where: { n: 1 } });",
  "const { _id, _rev, title } = await app.posts.get('x'); await app.posts.update(_id, { title }, { rev: _rev, signal: AbortSignal.timeout(5) });",
  "const [item] = (await app.posts.list({ meta: 'rev', fields: 'title' })).items; await app.posts.delete('x', { rev: item?._rev });",
  "const n: number = await app.posts.count({ where: { 'address.city': 'Rome' } });",
  "const id: string = app.newId(); const post = await app.posts.insert({ title: 'a' }, { id, idempotencyKey: 'b' }); post._id satisfies string;",
  "const { results: [post, note, gone], atomic } = await app.batch([{ op: 'insert', collection: 'posts', document: { title: 'a', tags: ['b'], after: app.newId() } }, { op: 'update', collection: 'notes', id: 'x', changes: { $inc: { n: 1 } }, where: { n: { $gte: 1 } }, rev: 1 }, { op: 'delete', collection: 'posts', id: { $id: 0 } }]); const t: string | undefined = post.document?.title; note.document?._id satisfies string | undefined; const s: number = gone.status; const b: boolean = atomic;",
  "await app.batch([{ op: 'insert', collection: 'posts', id: app.newId(), document: { title: 'a', address: { city: 'Rome' } } }, { op: 'insert', collection: 'posts', document: { title: 'b', after: { $id: 0 } } }, { op: 'update', collection: 'posts', id: { $id: 0 }, changes: { 'tags.0': 'a', $push: { tags: 'b' }, $inc: { views: 1 } }, where: { views: { $gte: 1 }, $or: [{ title: 'a' }] } }, { op: 'check', collection: 'posts', id: 'x', where: { title: { $contains: 'a' } } }], { idempotencyKey: 'a', signal: AbortSignal.timeout(5) });",
  "const queue: QueuedWrite<Schema>[] = [{ op: 'insert', collection: 'posts', document: { title: 'a' }, idempotencyKey: 'b' }]; const { results } = await app.batch(queue, { each: true }); for (const { status, code, message } of results) [status, code, message] satisfies [number, string | undefined, string | undefined];",
  "const { results: [done] } = await app.batch([{ op: 'update', collection: 'posts', id: 'x', changes: { title: 'a' }, idempotencyKey: 'b' }], { each: true }); done.code satisfies string | undefined; done.document?.views satisfies number | null | undefined;",
  "const writes: BatchWrite<Schema>[] = []; for (const result of (await app.batch(writes)).results) result.status satisfies number; await basalt('http://x', 'k').batch([{ op: 'insert', collection: 'any', document: { a: { $id: 0 } } }]);",
  "const { ids } = await app.posts.insertMany([{ title: 'a' }]); const id: string | undefined = ids[0];",
  "const rows = await app.posts.aggregate<{ n: number }>([{ $count: 'n' }]); const n: number | undefined = rows[0]?.n;",
  'const end: () => void = app.posts.live({ views: { $gte: 5 } }, ([post]) => post?.title satisfies string | undefined);',
  "const end: () => void = app.posts.live({}, ([post]) => { if (typeof post?.author === 'object') post.author?.name satisfies string | null | undefined; post?._rev satisfies number | undefined; }, { sort: '-views', limit: 50, populate: 'author', fields: ['title', 'author'] });",
  "for await (const { _id, rev, next, deleted, document } of app.posts.changes({ since: '0', where: { views: { $gte: 5 } }, wait: 0 })) { [_id, rev, next] satisfies [string, number, string]; if (!deleted) document.title satisfies string; }",
  "const room = presence(app, { of: { collection: 'posts', id: 'x' }, state: { name: 'Ada' }, onEvent: ({ userId }) => userId.length }, ([member]) => member?.userId satisfies string | undefined); room.send({ at: [1, 2] }); room.set({}); room.close();",
  'const note = await app.notes.insert({ anything: { goes: [1] } }); const id: string = note._id;',
  "await app.collection('mail').insert({ a: 1 }); await app.mail.send({ to: 'a@example.com', subject: 'a', text: 'b' });",
  "const { user } = await app.auth.signup({ email: 'a', password: 'b', name: 'c' }); const name: string | null | undefined = user.name;",
  'const me = await app.auth.me(); const verified: boolean = me.emailVerified;',
  "const { url } = await app.files.upload(new File(['a'], 'a.txt'), { onProgress: (share) => share.toFixed() });",
  "for await (const { name, createdAt } of app.files.each({ prefix: 'a' })) name satisfies typeof createdAt;",
  'const session: UserSession | undefined = (await app.auth.sessions())[0]; const at: string | undefined = session?.lastUsedAt;',
  'const files: ListedFile[] = (await app.files.list()).items; const links: FileLink[] = await app.files.sign(files.map(({ path }) => path));',
  'const [log]: MailLog[] = await app.mail.logs(); if (log?.providerEmailId) await app.mail.log(log.providerEmailId);',
  "const { id } = await app.mail.audiences.create({ name: 'a' }); await app.mail.contacts(id).create({ email: 'a@example.com' });",
  "const any = basalt('http://x', 'k'); const d = await any.whatever?.get('x'); await any.auth.login({ email: 'a', password: 'b' });",
  "try { await app.posts.delete('x', { permanent: true }); } catch (error) { if (error instanceof BasaltError) error.errors[0]?.field; }",
];

const wrong = [
  "presence(app, { of: 'x' }, () => 0);",
  "presence(app, { of: { collection: 'posts', id: 'x' } }, () => 0).send('text');",
  'app.post;',
  'app.users;',
  'app.then;',
  'app.posts.insert({});',
  'app.posts.insert({ title: 5 });',
  "app.posts.insert({ title: 'a', extra: 1 });",
  "app.posts.update('x', { title: null });",
  "app.posts.update('x', { titel: 'a' });",
  "app.posts.update('x', { 'address.town': 'a' });",
  "app.posts.update('x', { $inc: { title: 1 } });",
  "app.posts.update('x', { $inc: { views: 'a' } });",
  "app.posts.update('x', { $icn: { views: 1 } });",
  "app.posts.update('x', { $push: { tags: 5 } });",
  "app.posts.update('x', { $push: { views: 5 } });",
  "app.posts.update('x', { $unset: ['titel'] });",
  "app.posts.update('x', { title: 'a' }, { where: { titel: 'a' } });",
  "app.posts.delete('x', { where: { views: '5' } });",
  "app.posts.list({ where: { titel: 'a' } });",
  "app.posts.list({ where: { views: { $contains: 'a' } } });",
  "app.posts.list({ where: { views: '5' } });",
  "app.posts.list({ where: { $or: [{ views: 'a' }] } });",
  "app.posts.list({ sort: '-vieews' });",
  "app.posts.list({ fields: ['titel'] });",
  "app.posts.list({ limit: '5' });",
  'app.posts.list({ filter: {} });',
  "app.posts.each({ cursor: '' });",
  "app.posts.update('x', { title: 'a' }, { rev: '1' });",
  "app.posts.insert({ title: 'a' }, { rev: 1 });",
  "app.posts.insertMany([{ title: 'a' }], { id: app.newId() });",
  "app.posts.insert({ title: 'a' }, { id: 5 });",
  "app.batch([{ op: 'insert', collection: 'posts', document: {} }]);",
  "app.batch([{ op: 'insert', collection: 'posts', document: { title: 5 } }]);",
  "app.batch([{ op: 'insert', collection: 'posts', document: { title: 'a', extra: 1 } }]);",
  "app.batch([{ op: 'insert', collection: 'posts', document: { title: 'a', views: { $id: 0 } } }]);",
  "app.batch([{ op: 'insert', collection: 'post', document: { title: 'a' } }]);",
  "app.batch([{ op: 'insert', collection: 'users', document: { email: 'a', password: 'b' } }]);",
  "app.batch([{ op: 'upsert', collection: 'posts', document: { title: 'a' } }]);",
  "app.batch([{ op: 'insert', collection: 'posts', document: { title: 'a' }, where: {} }]);",
  "app.batch([{ op: 'insert', collection: 'posts', document: { title: 'a' }, idempotencyKey: 'a' }]);",
  "app.batch([{ op: 'update', collection: 'posts', changes: { title: 'a' } }]);",
  "app.batch([{ op: 'update', collection: 'posts', id: 'x', changes: { titel: 'a' } }]);",
  "app.batch([{ op: 'update', collection: 'posts', id: 'x', changes: { $inc: { title: 1 } } }]);",
  "app.batch([{ op: 'update', collection: 'posts', id: 'x', changes: { title: 'a' }, rev: '1' }]);",
  "app.batch([{ op: 'delete', collection: 'posts', id: 'x', where: { titel: 'a' } }]);",
  "app.batch([{ op: 'delete', collection: 'posts', id: 'x', permanent: true }]);",
  "app.batch([{ op: 'check', collection: 'posts', id: 'x', rev: 1 }]);",
  "app.batch([{ op: 'check', collection: 'posts', id: 'x' }], { each: 5 });",
  "(await app.batch([{ op: 'insert', collection: 'posts', document: { title: 'a' } }])).results[0].document?.titel;",
  "(await app.batch([{ op: 'delete', collection: 'posts', id: 'x' }])).results[0].document;",
  "(await app.batch([{ op: 'delete', collection: 'posts', id: 'x' }])).results[0].code;",
  "(await app.batch([{ op: 'delete', collection: 'posts', id: 'x' }], { each: true })).atomic;",
  'app.posts.list({ signal: 5 });',
  "app.posts.live({ titel: 'a' }, () => 0);",
  'app.posts.live({}, ([post]) => post?.titel);',
  "app.posts.live({}, () => 0, { sort: '-titel' });",
  "app.posts.live({}, ([post]) => post?.views, { fields: ['title'] });",
  'app.posts.live({}, () => 0, { skip: 5 });',
  "app.posts.changes({ where: { titel: 'a' } });",
  'for await (const { document } of app.posts.changes()) document.title;',
  "app.posts.list({ meta: 'all' });",
  "app.posts.aggregate('x');",
  "app.posts.list({ populate: 'writer' });",
  "app.posts.list({ populate: 'title' });",
  "app.posts.get('x', { populate: ['author', 'parts'] });",
  "app.notes.list({ populate: 'anything' });",
  "(await app.posts.list({ populate: 'author', fields: 'author' })).items[0]?.after;",
  "const { author } = await app.posts.get('x', { populate: 'author' }); if (typeof author === 'object') author?.email;",
  "const { author } = await app.posts.get('x', { populate: 'after' }); if (typeof author === 'object') author?.name;",
  "(await app.posts.list({ fields: ['title'] })).items[0]?.views;",
  "(await app.posts.get('x')).titel;",
  '(await app.auth.me()).password;',
  "app.auth.login({ email: 'a' });",
  "app.auth.verifyEmail({ otp: 'a' });",
  "app.collection('none');",
  "app.mail.send({ subject: 'a' });",
  "app.files.upload('text');",
];

test('compiler rejects a wrong collection, field, operator or value, and accepts correct ones', async () => {
  const before = [
    "import { basalt, BasaltError, type BatchWrite, type FileLink, type ListedFile, type MailLog, type QueuedWrite, type UserSession } from '@basalt/client';",
    "import { presence } from '@basalt/client/presence';",
    "import type { Schema } from './schema.ts';",
    "const app = basalt<Schema>('http://x', 'k');",
  ].join('\n');
  const files = { 'schema.ts': schema, 'uses.ts': expecting(before, right, wrong) };
  expect(await compile(files, { '@basalt/client': join(folder, 'package') })).toBe('');
});
