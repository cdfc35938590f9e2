import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type AnyShape, type Basalt, basalt } from '../../client/src/index.ts';
import { onProject } from '../../shared/persistence/mongo.ts';
import { eventually } from '../support/clients/eventually.ts';
import { Watching } from '../support/clients/watching.ts';
import { domainProject } from '../support/fixtures/stored-users.ts';
import { newCredentials, newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

type App = Basalt<Record<string, AnyShape>>;

interface Sent {
  readonly path: string;
  readonly items: number;
}

let project: UsersProject;
const open = new Set<Watching>();

/** An app, and its requests with the number of documents in their responses. */
const counted = (key = project.publishableKey): { readonly app: App; readonly sent: Sent[] } => {
  const sent: Sent[] = [];
  const fetching: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    const text = await answer.clone().text();
    const items: unknown = JSON.parse(text).data?.items;
    sent.push({ path: new URL(String(input)).pathname, items: Array.isArray(items) ? items.length : 0 });
    return answer;
  };
  return { app: basalt(inject('stack').baseUrl, key, { fetch: fetching }), sent };
};

const watch = (app: App, name: string, where: object, window: object): Watching => {
  const watching = new Watching(app.collection(name), where, undefined, window);
  open.add(watching);
  return watching;
};

beforeAll(async () => {
  project = await newUsersProject();
});

afterEach(() => {
  for (const watching of open) watching.end();
  open.clear();
  vi.unstubAllGlobals();
});

let made = 0;
const added = async (more: object = {}): Promise<string> => {
  const name = `rooms${++made}`;
  await project.addCollection({ name, changes: true, ...more });
  return name;
};
const server = (name: string) => basalt(inject('stack').baseUrl, project.secretKey).collection(name);
const texts = (documents: readonly object[]) => documents.map((document) => Object(document).text);

describe('a live window', () => {
  test('of the newest 50 of 20,000 messages costs a ticket, and one request for 50 documents', async () => {
    const name = await added();
    await onProject(
      await domainProject(project),
      (db) =>
        db
          .collection(name)
          .insertMany(Array.from({ length: 20_000 }, (_, n) => ({ room: 'a', n, isDeleted: false, _rev: 1 }))),
      60_000,
    );
    const { app, sent } = counted();
    const watching = watch(app, name, { room: 'a' }, { limit: 50 });
    const shown = await watching.until(() => true);
    expect(shown.map(({ n }) => n)).toEqual(Array.from({ length: 50 }, (_, at) => 19_999 - at));
    expect(sent).toEqual([
      { path: '/api/realtime/tickets', items: 0 },
      { path: `/api/data/${name}`, items: 50 },
    ]);
    await server(name).insert({ room: 'a', n: 20_000 });
    await watching.until(([first]) => first?.n === 20_000);
    expect(watching.latest).toHaveLength(50);
    expect(sent.slice(2)).toEqual([{ path: `/api/data/${name}`, items: 50 }]);
  });

  test('shows the first documents in its order, with its fields and references, while they change', async () => {
    const people = await added();
    const ann = await server(people).insert({ name: 'Ann' });
    const name = await added({
      schema: [
        ...['text', 'room'].map((key) => ({ key, type: 'String' })),
        { key: 'votes', type: 'Number' },
        { key: 'by', type: 'Ref', ref: people },
      ],
    });
    const messages = server(name);
    const ids: string[] = [];
    for (const [text, votes] of [
      ['a', 1],
      ['b', 2],
      ['c', 3],
      ['d', 4],
    ] as const) {
      ids.push((await messages.insert({ text, votes, room: 'x', by: ann._id }))._id);
    }
    const { app, sent } = counted();
    const window = { sort: '-votes', limit: 2, fields: ['text', 'by'], populate: 'by' };
    const watching = watch(app, name, { room: 'x' }, window);
    const first = await watching.until(() => true);
    expect(texts(first)).toEqual(['d', 'c']);
    expect(first[0]).toEqual({ _id: ids[3], _rev: 1, text: 'd', by: expect.objectContaining({ name: 'Ann' }) });
    await messages.update(ids[0] ?? '', { votes: 9 });
    expect(texts(await watching.until(([top]) => top?.text === 'a'))).toEqual(['a', 'd']);
    await messages.delete(ids[0] ?? '');
    expect(texts(await watching.until(([top]) => top?.text === 'd'))).toEqual(['d', 'c']);
    await messages.update(ids[3] ?? '', { room: 'y' });
    expect(texts(await watching.until(([top]) => top?.text === 'c'))).toEqual(['c', 'b']);
    const before = sent.length;
    // Neither concerns the window; the last change does.
    await messages.insert({ text: 'e', votes: 99, room: 'y' });
    await messages.delete(ids[3] ?? '');
    await messages.update(ids[1] ?? '', { text: 'B' });
    expect(texts(await watching.until(([, next]) => next?.text === 'B'))).toEqual(['c', 'B']);
    expect(sent.slice(before)).toEqual([{ path: `/api/data/${name}`, items: 2 }]);
    expect(
      watching.shown.map(texts).filter((shown, at, all) => at > 0 && String(shown) === String(all[at - 1])),
    ).toEqual([]);
  });

  test('shows users their own documents of a private collection only', async () => {
    const name = await added({ rls: { enabled: true, mode: 'private' } });
    const [ann, bob] = [counted().app, counted().app];
    for (const app of [ann, bob]) await app.auth.signup(newCredentials());
    const watching = watch(ann, name, {}, { limit: 2 });
    await watching.until(() => true);
    await bob.collection(name).insert({ text: 'his' });
    await ann.collection(name).insert({ text: 'one' });
    await ann.collection(name).insert({ text: 'two' });
    await ann.collection(name).insert({ text: 'three' });
    await watching.until(([newest]) => newest?.text === 'three');
    expect(texts(watching.latest)).toEqual(['three', 'two']);
    expect(watching.shown.flatMap(texts)).not.toContain('his');
  });

  test.each([
    ['without sockets', undefined],
    [
      'when no socket connects',
      class extends WebSocket {
        constructor() {
          super('ws://127.0.0.1:9');
        }
      },
    ],
  ])('polls the changes feed %s', async (_title, Socket) => {
    vi.stubGlobal('WebSocket', Socket);
    const name = await added();
    await server(name).insert({ text: 'a' });
    const watching = watch(counted().app, name, {}, { limit: 1 });
    await watching.until(() => true);
    await server(name).insert({ text: 'b' });
    expect(texts(await watching.until(([only]) => only?.text === 'b'))).toEqual(['b']);
  });

  test('is read again after its connection was lost', async () => {
    const sockets = new Set<WebSocket>();
    const Real = WebSocket;
    vi.stubGlobal(
      'WebSocket',
      class extends Real {
        constructor(url: string, protocols: string[]) {
          super(url, protocols);
          sockets.add(this);
        }
      },
    );
    const name = await added();
    const { app, sent } = counted();
    const watching = watch(app, name, {}, { limit: 2 });
    await watching.until(() => true);
    await eventually(() => expect(sockets.size).toBe(1));
    for (const socket of sockets) socket.close();
    await server(name).insert({ text: 'a' });
    await watching.until(([only]) => only?.text === 'a');
    await eventually(() => expect(sockets.size).toBe(2));
    await server(name).insert({ text: 'b' });
    await watching.until(({ length }) => length === 2);
    expect(sent.filter(({ path }) => path.endsWith('/tickets'))).toHaveLength(2);
  });

  test('reports the error of an invalid sort and stops', async () => {
    const reported = Promise.withResolvers<unknown>();
    vi.stubGlobal('reportError', reported.resolve);
    watch(counted().app, await added(), {}, { sort: '$odd' });
    expect(await reported.promise).toMatchObject({ name: 'BasaltError', status: 400 });
  });
});
