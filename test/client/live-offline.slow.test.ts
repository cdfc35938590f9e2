import { afterEach, expect, inject, test, vi } from 'vitest';
import { basalt } from '../../client/src/index.ts';
import { inParallel } from '../support/clients/client.ts';
import { Watching } from '../support/clients/watching.ts';
import { newProject } from '../support/fixtures/project.ts';

const Real = WebSocket;
const sockets = new Set<WebSocket>();
let isOn = true;
let requests = new AbortController();

/** Sockets and requests of a machine that can be offline. */
class Socket extends Real {
  constructor(url: string, protocols: string[]) {
    super(isOn ? url : 'ws://127.0.0.1:9', protocols);
    sockets.add(this);
  }
}
const fetching: typeof fetch = (input, init = {}) =>
  isOn
    ? fetch(input, { ...init, signal: AbortSignal.any([requests.signal, ...(init.signal ? [init.signal] : [])]) })
    : Promise.reject(new TypeError('offline'));

const goOffline = (): void => {
  isOn = false;
  requests.abort();
  for (const socket of sockets) socket.close();
};
const goOnline = (): void => {
  isOn = true;
  requests = new AbortController();
};

afterEach(() => {
  vi.unstubAllGlobals();
});

test.each([
  ['every document', {}],
  ['a condition', { n: { $gte: 500 }, tag: 'a' }],
])(
  'live of %s shows exactly the same documents as the list after 1,000 changes while it was offline',
  async (_title, where) => {
    vi.stubGlobal('WebSocket', Socket);
    const project = await newProject([{ name: 'posts', changes: true }]);
    const server = basalt(inject('stack').baseUrl, project.secretKey).collection('posts');
    const app = basalt(inject('stack').baseUrl, project.publishableKey, { fetch: fetching }).collection('posts');
    const { ids } = await server.insertMany(Array.from({ length: 100 }, (_, n) => ({ n: n * 10, tag: 'a' })));
    const watching = new Watching(app, where);
    try {
      await watching.until(() => true);
      goOffline();
      const added = await inParallel(7, (round) =>
        server.insertMany(Array.from({ length: 100 }, (_, n) => ({ n: round * 100 + n, tag: n % 2 ? 'a' : 'b' }))),
      );
      const all = [...ids, ...added.flatMap((some) => some.ids)];
      const changed = all.filter((_id, place) => place % 3 === 0).slice(0, 200);
      for (let from = 0; from < changed.length; from += 20) {
        const some = changed.slice(from, from + 20);
        await inParallel(some.length, (place) => server.update(some[place] ?? '', { n: place * 50, tag: 'a' }));
      }
      const gone = all.slice(-100);
      for (let from = 0; from < gone.length; from += 20) {
        const some = gone.slice(from, from + 20);
        await inParallel(some.length, (place) => server.delete(some[place] ?? '', { permanent: place % 2 === 0 }));
      }
      goOnline();
      const expected = await Array.fromAsync(app.each({ where, meta: 'rev', limit: 1000 }));
      const latest = await watching.until((documents) => JSON.stringify(documents) === JSON.stringify(expected));
      expect(latest).toEqual(expected);
      await server.insert({ n: 1000, tag: 'a' });
      await watching.until((documents) => documents[0]?.n === 1000);
    } finally {
      watching.end();
    }
  },
);
