import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type AnyShape, type Basalt, basalt, type Options } from '../../client/src/index.ts';
import { eventually } from '../support/clients/eventually.ts';
import { Watching } from '../support/clients/watching.ts';
import { newCredentials, newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

type App = Basalt<Record<string, AnyShape>>;

let project: UsersProject;
const open = new Set<Watching>();

const appOf = (options: Options = {}, key = project.publishableKey): App =>
  basalt(inject('stack').baseUrl, key, options);
const asServer = (): App => appOf({}, project.secretKey);
const watch = (app: App, name: string, where: object = {}, onShow?: () => void): Watching => {
  const watching = new Watching(app.collection(name), where, onShow);
  open.add(watching);
  return watching;
};

beforeAll(async () => {
  project = await newUsersProject();
  await project.addCollection({ name: 'todos', changes: true, rls: { enabled: true, mode: 'private' } });
  await project.addCollection({ name: 'quiet' });
});

afterEach(() => {
  for (const watching of open) watching.end();
  open.clear();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

let made = 0;
const posts = async (): Promise<string> => {
  const name = `posts${++made}`;
  await project.addCollection({ name, changes: true });
  return name;
};

const ids = (documents: readonly { readonly _id: string }[]): string[] => documents.map(({ _id }) => _id);
/** Returns the listed documents with their revisions. */
const listed = async (app: App, name: string, where: Readonly<Record<string, unknown>> = {}): Promise<unknown[]> =>
  Array.fromAsync(app.collection(name).each({ where, meta: 'rev', limit: 1000 }));

describe('live', () => {
  test.each([
    ['plain values', { done: false, room: 'a' }],
    [
      'operators that only the service evaluates',
      { $or: [{ done: { $ne: true }, room: 'a' }], tags: 'x', _id: { $exists: true } },
    ],
  ])('shows documents while they match a filter of %s', async (_title, where) => {
    const name = await posts();
    const server = asServer().collection(name);
    const inside = { done: false, room: 'a', tags: ['x', 'y'] };
    const [mine, other] = [await server.insert(inside), await server.insert({ ...inside, room: 'b' })];
    const watching = watch(appOf(), name, where);
    expect(ids(await watching.until(() => true))).toEqual([mine._id]);
    await server.update(other._id, { room: 'a' });
    expect(ids(await watching.until(({ length }) => length === 2))).toEqual([other._id, mine._id]);
    await server.update(mine._id, { done: true });
    expect(ids(await watching.until(({ length }) => length === 1))).toEqual([other._id]);
    await server.insert({ ...inside, done: true });
    await server.update(other._id, { text: 'ä'.repeat(3000) });
    await watching.until(([only]) => only?.text !== undefined);
    expect(watching.latest).toEqual(await listed(appOf(), name, where));
  });

  test('shows users only their own documents of a private collection', async () => {
    const [ann, bob] = [appOf(), appOf()];
    for (const app of [ann, bob]) await app.auth.signup(newCredentials());
    const [anns, bobs] = [watch(ann, 'todos'), watch(bob, 'todos')];
    await Promise.all([anns.until(() => true), bobs.until(() => true)]);
    const { _id } = await ann.collection('todos').insert({ task: 'mine' });
    await anns.until(({ length }) => length === 1);
    const theirs = await bob.collection('todos').insert({ task: 'his' });
    await bobs.until(({ length }) => length === 1);
    expect(bobs.shown.flat().every((shown) => shown._id === theirs._id)).toBe(true);
    await asServer().collection('todos').update(_id, { task: 'changed' });
    await anns.until(([only]) => only?.task === 'changed');
    expect(anns.shown.flat().every((shown) => shown._id === _id)).toBe(true);
  });

  test('continues when the callback throws, and reports the error', async () => {
    const name = await posts();
    const reported = vi.fn();
    vi.stubGlobal('reportError', reported);
    const server = asServer().collection(name);
    const watching = watch(appOf(), name, {}, () => {
      throw new Error('of the app');
    });
    await watching.until(() => true);
    await server.insert({ n: 1 });
    await watching.until(({ length }) => length === 1);
    expect(reported.mock.calls.map(([{ message }]) => message)).toEqual(watching.shown.map(() => 'of the app'));
  });

  test('stops when the returned function is called', async () => {
    const name = await posts();
    const server = asServer().collection(name);
    const [ended, watching] = [watch(appOf(), name), watch(appOf(), name)];
    await Promise.all([ended.until(() => true), watching.until(() => true)]);
    ended.end();
    const before = ended.shown.length;
    await server.insert({ n: 1 });
    await watching.until(({ length }) => length === 1);
    expect(ended.shown).toHaveLength(before);
  });

  test('uses one socket for all subscriptions of an app, and closes it after the last one', async () => {
    const sockets: WebSocket[] = [];
    const Real = WebSocket;
    vi.stubGlobal(
      'WebSocket',
      class extends Real {
        constructor(url: string, protocols: string[]) {
          super(url, protocols);
          sockets.push(this);
        }
      },
    );
    const [one, other] = [await posts(), await posts()];
    const app = appOf();
    const watchings = [watch(app, one), watch(app, other, { n: 1 }), watch(app, one, { n: 2 })];
    await Promise.all(watchings.map((watching) => watching.until(() => true)));
    const server = asServer();
    for (const name of [one, other]) for (const n of [1, 2]) await server.collection(name).insert({ n });
    const [all, ones, twos] = watchings;
    await all?.until(({ length }) => length === 2);
    await ones?.until(({ length }) => length === 1);
    await twos?.until(({ length }) => length === 1);
    twos?.end();
    const { _id } = await server.collection(one).insert({ n: 2 });
    expect(ids((await all?.until(({ length }) => length === 3)) ?? [])[0]).toBe(_id);
    expect(twos?.latest).toHaveLength(1);
    await eventually(() => expect(sockets).toHaveLength(1));
    const ended = new Promise((resolve) => sockets[0]?.addEventListener('close', resolve));
    for (const watching of watchings) watching.end();
    await ended;
    await watch(app, one).until(({ length }) => length === 3);
  });

  test.each([
    ['a collection without a changes feed', 'quiet', {}, 'CHANGES_NOT_ENABLED'],
    ['a private collection without a user', 'todos', {}, 'TOKEN_MISSING'],
    ['a missing collection', 'none', {}, 'COLLECTION_NOT_FOUND'],
  ])('reports the error and stops: %s', async (_title, name, where, code) => {
    const reported = Promise.withResolvers<unknown>();
    vi.stubGlobal('reportError', reported.resolve);
    watch(appOf(), name, where);
    expect(await reported.promise).toMatchObject({ name: 'BasaltError', code });
  });

  test.each([-1, 1])('works when the clock of the client is wrong by %i day', async (days) => {
    const now = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => now() + days * 86_400_000);
    const name = await posts();
    const watching = watch(appOf(), name);
    await watching.until(() => true);
    await asServer().collection(name).insert({ n: 1 });
    expect(await watching.until(({ length }) => length === 1)).toMatchObject([{ n: 1 }]);
  });
});

/** A `fetch` that returns the ticket responses of a deployment without live updates. */
const withoutTickets: typeof fetch = async (input, init) => {
  if (!String(input).endsWith('/tickets')) return fetch(input, init);
  const data = { url: null, ticket: null, expiresIn: 0, channels: {} };
  return Response.json({ success: true, data, message: '' });
};

describe('live polls the changes feed', () => {
  const ways: readonly (readonly [string, () => App])[] = [
    ['when live updates are not deployed', () => appOf({ fetch: withoutTickets })],
    [
      'when there are no sockets',
      () => {
        vi.stubGlobal('WebSocket', undefined);
        return appOf();
      },
    ],
    [
      'when no socket connects',
      () => {
        const Real = WebSocket;
        vi.stubGlobal(
          'WebSocket',
          class extends Real {
            constructor() {
              super('ws://127.0.0.1:9');
            }
          },
        );
        return appOf();
      },
    ],
  ];

  test.each(ways)('%s', async (_title, begin) => {
    const name = await posts();
    const app = begin();
    const server = asServer().collection(name);
    const watching = watch(app, name, { n: { $gte: 1 } });
    await watching.until(() => true);
    const { _id } = await server.insert({ n: 1 });
    await watching.until(({ length }) => length === 1);
    await server.update(_id, { n: 0 });
    await watching.until(({ length }) => length === 0);
  });
});
