import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { listen } from '../../../infra/local/ports.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { EventSocket } from '../../support/clients/event-socket.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();
/** Long enough for messages to arrive on a busy machine. */
const nudgeMs = 60_000;
Object.assign(process.env, { RATE_LIMIT: '0', LOG: 'silent', NUDGE_MS: String(nudgeMs) });

const annId = 'a'.repeat(24);
const bobId = 'b'.repeat(24);
const owned = (mode: string) => ({ rls: { enabled: true, mode } });

let project: TestProject;
let ann: RequestOptions;
let bob: RequestOptions;
const open = new Set<EventSocket>();

/** A separate Event API for the handlers that run in this process. */
let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
const server = createServer((request, response) => answer(request, response));

beforeAll(async () => {
  process.env.REALTIME_PUBLISH_URL = `http://127.0.0.1:${await listen(server, 0)}/event`;
  project = await newProject([
    { name: 'posts', changes: true, ...owned('public-read') },
    { name: 'todos', changes: true, ...owned('private') },
    { name: 'quiet' },
  ]);
  ann = { key: project.publishableKey, token: await project.tokenFor(annId) };
  bob = { key: project.publishableKey, token: await project.tokenFor(bobId) };
});

afterEach(() => {
  for (const socket of open) socket.close();
  open.clear();
  vi.restoreAllMocks();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

type Stored = { readonly _id: string; readonly data: { readonly ids: readonly string[] } };
const send = async (method: string, path: string, options: RequestOptions = {}) => {
  const { status, body } = await project.api<Stored>(method, `/api/data/${path}`, options);
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
};

/** Opens a socket and subscribes to the caller’s channel of one collection. */
const watch = async (name: string, options: RequestOptions): Promise<EventSocket> => {
  const { body } = await project.api<{
    data: { url: string; ticket: string; channels: Readonly<Record<string, string>> };
  }>('POST', '/api/realtime/tickets', { ...options, body: { collections: [name] } });
  const socket = await EventSocket.open(body.data.url, body.data.ticket);
  open.add(socket);
  expect(await socket.subscribe(body.data.channels[name] ?? '')).toMatchObject({ type: 'subscribe_success' });
  return socket;
};

describe('a nudge', () => {
  test('is sent after every kind of write, with the document as a read returns it', async () => {
    const socket = await watch('posts', { key: project.publishableKey });
    const { _id } = await send('POST', 'posts', { body: { n: 1 } });
    expect(await socket.nudgeOf(_id, 1)).toEqual({
      collection: 'posts',
      _id,
      rev: 1,
      document: await send('GET', `posts/${_id}`),
    });
    await send('PATCH', `posts/${_id}`, { body: { n: 2, 'in.n': 3 } });
    expect((await socket.nudgeOf(_id, 2)).document).toEqual(await send('GET', `posts/${_id}`));
    await send('PATCH', `posts/${_id}`, { body: { $inc: { n: 1 }, $push: { list: 'a' }, $unset: ['in'] } });
    const computed = await socket.nudgeOf(_id, 3);
    expect(computed.document).toEqual(await send('GET', `posts/${_id}`));
    expect(computed.document).toMatchObject({ n: 3, list: ['a'] });
    await send('DELETE', `posts/${_id}`);
    expect(await socket.nudgeOf(_id, 4)).toEqual({ collection: 'posts', _id, rev: 4, deleted: true });
    await send('PATCH', `posts/${_id}/recover`);
    expect((await socket.nudgeOf(_id, 5)).document).toEqual(await send('GET', `posts/${_id}`));
    await send('DELETE', `posts/${_id}?permanent=true`);
    expect(await socket.nudgeOf(_id, 6)).toEqual({ collection: 'posts', _id, rev: 6, deleted: true });
    const { ids } = (await send('POST', 'posts/bulk', { body: Array.from({ length: 12 }, (_, n) => ({ n })) })).data;
    for (const id of ids) expect((await socket.nudgeOf(id, 1)).document).toMatchObject({ _id: id });
    expect(JSON.stringify(socket.nudges)).not.toMatch(/_rev|_pos|_gone|_fuse/);
  });

  test('is sent after a developer’s write in the console', async () => {
    const socket = await watch('posts', {});
    const path = `/api/projects/${project.id}/collections/posts/documents`;
    const { dashboard } = project.developer;
    const { _id } = (await dashboard<{ data: Stored }>('POST', path, { n: 1 })).body.data;
    await dashboard('PATCH', `${path}/${_id}`, { n: 2 });
    expect((await socket.nudgeOf(_id, 2)).document).toMatchObject({ n: 2 });
    await dashboard('DELETE', `${path}/${_id}`);
    expect(await socket.nudgeOf(_id, 3)).toMatchObject({ deleted: true });
  });

  test('has no document when its JSON exceeds 4 KiB', async () => {
    const socket = await watch('posts', {});
    const { _id } = await send('POST', 'posts', { body: { text: '' } });
    const around = Buffer.byteLength(JSON.stringify(await send('GET', `posts/${_id}`)));
    await send('PATCH', `posts/${_id}`, { body: { text: 'ä'.repeat((4096 - around) >> 1) } });
    expect((await socket.nudgeOf(_id, 2)).document).toBeDefined();
    await send('PATCH', `posts/${_id}`, { body: { text: 'ä'.repeat((4098 - around) >> 1) } });
    expect(await socket.nudgeOf(_id, 3)).toEqual({ collection: 'posts', _id, rev: 3 });
  });

  test('goes only to the owner and the secret key when the document is private, and never contains it', async () => {
    const [anns, bobs, all] = [await watch('todos', ann), await watch('todos', bob), await watch('todos', {})];
    const { _id } = await send('POST', 'todos', { ...ann, body: { n: 1 } });
    await send('PATCH', `todos/${_id}`, { body: { n: 2 } });
    await send('DELETE', `todos/${_id}`);
    await send('PATCH', `todos/${_id}/recover`);
    await send('DELETE', `todos/${_id}?permanent=true`);
    const nobodys = (await send('POST', 'todos', { body: { n: 3 } }))._id;
    const last = (await send('POST', 'todos', { ...bob, body: { n: 4 } }))._id;
    // A new owner receives the change; a document with an owner cannot get another one.
    await send('PATCH', `todos/${nobodys}`, { body: { userId: bobId } });
    const taken = await project.api('PATCH', `/api/data/todos/${last}`, { body: { userId: annId } });
    expect([taken.status, taken.body]).toMatchObject([403, { code: 'OWNER_IMMUTABLE' }]);
    await bobs.nudgeOf(nobodys, 2);
    await all.nudgeOf(nobodys, 2);
    await anns.nudgeOf(_id, 5);
    const heard = ({ nudges }: EventSocket) => nudges.map(({ _id: id, rev }) => [id, rev]);
    const anns5 = [1, 2, 3, 4, 5].map((rev) => [_id, rev]);
    expect(heard(anns)).toEqual(anns5);
    expect(heard(bobs)).toEqual([
      [last, 1],
      [nobodys, 2],
    ]);
    expect(heard(all)).toEqual([...anns5, [nobodys, 1], [last, 1], [nobodys, 2]]);
    expect([anns, bobs, all].flatMap(({ nudges }) => nudges.filter(({ document }) => document))).toEqual([]);
  });

  test('reaches no listener of another collection or project, with 50 listeners', async () => {
    const other = await newProject([{ name: 'posts', changes: true }]);
    const { body } = await other.api<{ data: { url: string; ticket: string; channels: { posts: string } } }>(
      'POST',
      '/api/realtime/tickets',
      { body: { collections: ['posts'] } },
    );
    const { url, ticket, channels } = body.data;
    const theirs = await EventSocket.open(url, ticket);
    open.add(theirs);
    await theirs.subscribe(channels.posts);
    const mine = await watch('posts', ann);
    const sockets = await Promise.all(Array.from({ length: 50 }, () => watch('todos', ann)));
    const first = (await send('POST', 'posts', { body: {} }))._id;
    await mine.nudgeOf(first, 1);
    const todo = (await send('POST', 'todos', { ...ann, body: {} }))._id;
    for (const socket of sockets) await socket.nudgeOf(todo, 1);
    const { _id } = (await other.api<Stored>('POST', '/api/data/posts', { body: {} })).body;
    await theirs.nudgeOf(_id, 1);
    expect(theirs.nudges).toHaveLength(1);
    expect(mine.nudges).toHaveLength(1);
    expect(sockets.map(({ nudges }) => nudges.length)).toEqual(sockets.map(() => 1));
  });
});

const create = (collectionName: string, body: object = { n: 1 }) =>
  invoke(createDocument, { key: project.secretKey, method: 'POST', params: { collectionName }, body });
const published = (commands: readonly unknown[]) =>
  commands.filter((command) => JSON.stringify(command).includes('EventPublish')).length;

describe('a write', () => {
  test('costs no extra request in a collection without a changes feed, and one with a feed', async () => {
    answer = (_request, response) => response.end('{}');
    await create('quiet');
    await create('posts');
    expect(published(await commandsOf(() => create('quiet')))).toBe(0);
    expect(published(await commandsOf(() => create('posts')))).toBe(1);
  });

  test('sends twenty requests of five events when it has 100 documents', async () => {
    const sent: number[] = [];
    const all = Promise.withResolvers<void>();
    answer = async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      sent.push((JSON.parse(Buffer.concat(chunks).toString()) as { events: string[] }).events.length);
      response.end('{}');
      if (sent.length === 20) all.resolve();
    };
    const body = Array.from({ length: 100 }, (_, n) => ({ n }));
    const params = { collectionName: 'posts' };
    expect((await invoke(createDocuments, { key: project.secretKey, method: 'POST', params, body })).status).toBe(201);
    await all.promise;
    expect(sent).toEqual(Array.from({ length: 20 }, () => 5));
  });

  test.each([
    ['rejects it', (_request: IncomingMessage, response: ServerResponse) => void response.writeHead(503).end('no')],
    ['closes the connection', (request: IncomingMessage) => void request.destroy()],
    ['never responds', () => undefined],
  ])('succeeds and is stored when the Event API %s', async (_title, act) => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms === nudgeMs ? 50 : ms));
    answer = act;
    const { status, body } = await create('posts');
    expect(status).toBe(201);
    const id = String(body._id);
    const params = { collectionName: 'posts', id };
    const options = { key: project.secretKey, method: 'PATCH', params, body: { n: 2 } };
    expect((await invoke(updateDocument, options)).status).toBe(200);
    expect(await send('GET', `posts/${id}`)).toMatchObject({ n: 2 });
  });
});
