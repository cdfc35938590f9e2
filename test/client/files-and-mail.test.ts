import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { HttpProxy } from '../support/faults/http-proxy.ts';
import { pixel } from '../support/fixtures/files.ts';
import { newCredentials, newUsersProject, type UsersProject } from '../support/fixtures/users.ts';
import { asApp, asServer, newShop } from './shop.ts';

let project: UsersProject;
let proxy: HttpProxy;

beforeAll(async () => {
  project = await newShop();
  proxy = await HttpProxy.start(inject('stack').baseUrl);
});

afterAll(() => proxy.close());

describe('files', () => {
  test('are uploaded as public files and deleted', async () => {
    const app = asServer(project);
    const shares: number[] = [];
    const file = new File(['Hello'], 'hello.txt', { type: 'text/plain' });
    const { path, url } = await app.files.upload(file, { onProgress: (share) => shares.push(share) });
    expect(path).toContain('hello');
    expect(shares).toEqual([1]);
    expect(await (await fetch(url ?? '')).text()).toBe('Hello');
    await app.files.delete(path);
    await expect(app.files.delete(path)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  test('are uploaded when a listener throws, and its error is reported', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const mine = new Error('mine');
    const onProgress = (): never => {
      throw mine;
    };
    const { url } = await asServer(project).files.upload(new Blob(['x']), { onProgress });
    expect(await (await fetch(url ?? '')).text()).toBe('x');
    expect(said.mock.calls).toEqual([[mine]]);
    said.mockRestore();
  });

  test('have the given name and any type', async () => {
    const { path } = await asServer(project).files.upload(new Blob(['x']), { filename: 'named.bin' });
    expect(path).toContain('named');
  });

  test('are uploaded once when the first response to each request is lost', async () => {
    const lost = new Set<string>();
    proxy.meet(({ path }) => {
      if (lost.has(path)) return undefined;
      lost.add(path);
      return 'lose the answer';
    });
    const { url } = await asServer(project, proxy.url).files.upload(new File(['twice'], 'twice.txt'));
    expect(await (await fetch(url ?? '')).text()).toBe('twice');
    proxy.heal();
  });

  test('that are private are read by signed links, which only the server and their user can create', async () => {
    const [app, mine, other] = [asServer(project), asApp(project), asApp(project)];
    for (const each of [mine, other]) await each.auth.signup(newCredentials());
    const token = (await mine.auth.token()) ?? '';
    const { path, url } = await app.files.upload(new Blob(['secret']), { visibility: 'private', token });
    expect(url).toBeNull();
    for (const each of [app, mine]) {
      const [link] = await each.files.sign([path], { expiresIn: 600 });
      expect(await (await fetch(link?.url ?? '')).text()).toBe('secret');
    }
    expect(await other.files.sign([path])).toMatchObject([{ path, error: { code: 'FILE_NOT_FOUND' } }]);
    const open = await app.files.setVisibility(path, 'public');
    expect(await (await fetch(open.url ?? '')).text()).toBe('secret');
  });

  test('that are images are opened in a given size, by their address or a signed link', async () => {
    const app = asServer(project);
    const { path, url } = await app.files.upload(new File([pixel], 'dot.png', { type: 'image/png' }));
    const size = { width: 64, height: 64, fit: 'contain', format: 'webp' } as const;
    const open = async (address = '') => (await fetch(address)).headers.get('content-type');
    expect(await open(app.files.sized(url ?? '', size))).toBe('image/webp');
    await app.files.setVisibility(path, 'private');
    const [link] = await app.files.sign([path], size);
    expect(await open(link?.url)).toBe('image/webp');
    await expect(app.files.sign([path], { width: 65 as 64 })).rejects.toMatchObject({ code: 'INVALID_SIZE' });
  });

  test('of users are listed only for their owner, newest first, and by the start of the name', async () => {
    const of = await newUsersProject({ settings: { uploads: { users: true } } });
    const [mine, other] = [asApp(of), asApp(of)];
    for (const each of [mine, other]) await each.auth.signup(newCredentials());
    for (const name of ['a-1', 'b-2', 'a-3']) await mine.files.upload(new Blob(['x']), { filename: name });
    await other.files.upload(new Blob(['x']));
    const { items, nextCursor } = await mine.files.list();
    expect(items.map(({ name, url }) => [name, url])).toEqual([
      ['a-3', null],
      ['b-2', null],
      ['a-1', null],
    ]);
    expect(nextCursor).toBeUndefined();
    expect((await Array.fromAsync(mine.files.each({ prefix: 'a-' }))).map(({ name }) => name)).toEqual(['a-3', 'a-1']);
    await expect(asServer(of).files.list()).rejects.toMatchObject({ status: 403 });
  });

  test('of a document are attached and listed by the users who may change and read the document', async () => {
    const of = await newUsersProject({ settings: { uploads: { users: true } } });
    await of.addCollection({ name: 'notes', rls: { enabled: true } });
    const [mine, other, server] = [asApp(of), asApp(of), asServer(of)];
    for (const each of [mine, other]) await each.auth.signup(newCredentials());
    const { _id: id } = await mine.collection('notes').insert({});
    const trip = { collection: 'notes', id };
    for (const filename of ['a', 'b']) await mine.files.upload(new Blob(['x']), { of: trip, filename });
    await expect(other.files.upload(new Blob(['x']), { of: trip })).rejects.toMatchObject({ code: 'NOT_OWNER' });
    for (const each of [mine, other, server, asApp(of)]) {
      const files = await Array.fromAsync(each.files.of('notes', id));
      expect(files.map(({ name }) => name)).toEqual(['b', 'a']);
    }
    expect((await Array.fromAsync(server.files.of('notes', id, { prefix: 'a' }))).length).toBe(1);
    expect((await mine.files.list()).items).toEqual([]);
  });

  test('are listed to the last page when a page before it is empty', async () => {
    const asked: string[] = [];
    const pages = [
      { items: [{ name: 'a' }], nextCursor: 'x/1' },
      { items: [], nextCursor: 'x/2' },
      { items: [{ name: 'b' }] },
    ];
    const paging: typeof fetch = async (address) => {
      asked.push(new URL(String(address)).search);
      return Response.json({ success: true, data: pages[asked.length - 1] });
    };
    const files = await Array.fromAsync(asServer(project, undefined, { fetch: paging }).files.each({ prefix: 'p' }));
    expect(files.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(asked).toEqual(['?prefix=p', '?prefix=p&cursor=x%2F1', '?prefix=p&cursor=x%2F2']);
  });

  test('return an error without the secret key', async () => {
    await expect(asApp(project).files.upload(new Blob(['x']))).rejects.toMatchObject({ code: 'SECRET_KEY_REQUIRED' });
  });

  test('throw when the storage rejects them', async () => {
    const refusing: typeof fetch = (address, init) =>
      init?.method === 'PUT' ? Promise.resolve(new Response('', { status: 403 })) : fetch(address, init);
    const app = asServer(project, undefined, { fetch: refusing });
    await expect(app.files.upload(new Blob(['x']))).rejects.toMatchObject({ status: 403, code: 'UPLOAD_FAILED' });
  });
});

describe('email', () => {
  test('is sent once when its response is lost', async () => {
    const app = asServer(project, proxy.url);
    proxy.next('lose the answer');
    const { id } = await app.mail.send({ to: 'ada@example.com', subject: 'Hello', text: 'It works.' });
    const mail = { to: 'ada@example.com', subject: 'Hello', text: 'Again.' };
    const again = [1, 2].map(() => app.mail.send(mail, { idempotencyKey: 'mail-17' }));
    const [first, second] = await Promise.all(again);
    expect(first).toEqual(second);
    const logs = (await app.mail.logs()).filter(({ to }) => to.includes('ada@example.com'));
    expect(new Set(logs.map(({ _id }) => _id))).toEqual(new Set([id, first?.id]));
    await expect(app.mail.log('none')).rejects.toMatchObject({ status: 404 });
  });

  test('for audiences returns an error when the project has no mail provider of its own', async () => {
    const { mail } = asServer(project);
    const refused = { status: 403 };
    await expect(mail.audiences.list({ limit: 5 })).rejects.toMatchObject(refused);
    await expect(mail.audiences.create({ name: 'x' })).rejects.toMatchObject(refused);
    await expect(mail.contacts('a').create({ email: 'a@example.com' })).rejects.toMatchObject(refused);
    await expect(mail.contacts('a').update('b', { firstName: 'B' })).rejects.toMatchObject(refused);
    await expect(mail.contacts('a').delete('b')).rejects.toMatchObject(refused);
    await expect(mail.broadcasts.get('a')).rejects.toMatchObject(refused);
    await expect(mail.broadcasts.send('a')).rejects.toMatchObject(refused);
  });
});
