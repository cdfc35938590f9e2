import { beforeAll, expect, inject, test, vi } from 'vitest';
import { type AnyShape, type Basalt, basalt } from '../../client/src/index.ts';
import { Watching } from '../support/clients/watching.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let project: TestProject;
let server: Basalt<Record<string, AnyShape>>;

beforeAll(async () => {
  project = await newProject([{ name: 'quiet' }]);
  server = basalt(inject('stack').baseUrl, project.secretKey);
});

let made = 0;
const added = async (count: number) => {
  const name = `fed${++made}`;
  await project.addCollection({ name, changes: true });
  const collection = server.collection(name);
  const documents: readonly { readonly _id: string }[] = await Promise.all(
    Array.from({ length: count }, (_, n) => collection.insert({ n })),
  );
  return { collection, ids: documents.map(({ _id }) => _id).sort() };
};

test('changes with wait 0 ends with the last change, and a later call continues where one stopped', async () => {
  const { collection, ids } = await added(5);
  const all = await Array.fromAsync(collection.changes({ since: '0', wait: 0 }));
  expect(all.map(({ _id }) => _id).sort()).toEqual(ids);
  expect(all[0]).toMatchObject({ rev: 1, document: { n: expect.any(Number) }, next: expect.any(String) });
  expect(await Array.fromAsync(collection.changes({ since: all.at(-1)?.next, wait: 0 }))).toEqual([]);
  expect(await Array.fromAsync(collection.changes({ wait: 0 }))).toEqual([]);
  // A reader that stops after any change misses none of the others.
  for (const [at, { next }] of all.entries()) {
    const rest = await Array.fromAsync(collection.changes({ since: next, wait: 0 }));
    const seen = new Set([...all.slice(0, at + 1), ...rest].map(({ _id }) => _id));
    expect(seen.size).toBe(5);
  }
});

test('changes never ends by default, waits for each change, and shows those that leave where as deleted', async () => {
  const { collection } = await added(0);
  const seen: unknown[] = [];
  const fetching = vi.fn(fetch);
  const app = basalt(inject('stack').baseUrl, project.publishableKey, { fetch: fetching });
  const { _id } = await collection.insert({ open: true });
  const changes = app.collection(`fed${made}`).changes({ since: '0', where: { open: true } });
  for await (const { rev, deleted, document } of changes) {
    seen.push([rev, deleted ?? document?.open]);
    if (rev === 1) await collection.update(_id, { open: false });
    if (rev === 2) setTimeout(() => collection.delete(_id, { permanent: true }), 100);
    if (rev === 3) break;
  }
  expect(seen).toEqual([
    [1, true],
    [2, true],
    [3, true],
  ]);
  const addresses = fetching.mock.calls.map(([address]) => new URL(String(address)).searchParams);
  expect(addresses.map((query) => query.get('wait'))).toEqual(['20', '20', '20']);
});

test('changes throws errors of the service, and ABORTED when its signal ends it', async () => {
  await expect(server.collection('quiet').changes().next()).rejects.toMatchObject({ code: 'CHANGES_NOT_ENABLED' });
  const { collection } = await added(1);
  await expect(collection.changes({ since: 'forged' }).next()).rejects.toMatchObject({ code: 'INVALID_POSITION' });
  const end = new AbortController();
  const waiting = collection.changes({ signal: end.signal }).next();
  setTimeout(() => end.abort(), 100);
  await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' });
});

test('live and changes find the partition in where, and report what is missing without it', async () => {
  const schema = ['room', 'text'].map((key) => ({ key, type: 'String' }));
  await project.addCollection({ name: 'lines', changes: true, schema, partition: 'room' });
  const app = basalt(inject('stack').baseUrl, project.publishableKey).collection('lines');
  const lines = server.collection('lines');
  const watchings = [undefined, { limit: 5 }].map((window) => new Watching(app, { room: 'a' }, undefined, window));
  try {
    for (const watching of watchings) await watching.until(() => true);
    const { _id } = await lines.insert({ room: 'a', text: 'mine' });
    await lines.insert({ room: 'b', text: 'theirs' });
    for (const watching of watchings) {
      expect(await watching.until(({ length }) => length > 0)).toMatchObject([{ _id, text: 'mine' }]);
    }
    const changes = await Array.fromAsync(app.changes({ since: '0', where: { room: 'a' }, wait: 0 }));
    expect(changes.map((change) => change._id)).toEqual([_id]);
    await expect(app.changes({ since: '0' }).next()).rejects.toMatchObject({ code: 'INVALID_QUERY' });
    const reported = Promise.withResolvers<unknown>();
    vi.stubGlobal('reportError', reported.resolve);
    watchings.push(new Watching(app, { text: 'mine' }));
    expect(await reported.promise).toMatchObject({ code: 'INVALID_QUERY' });
  } finally {
    for (const watching of watchings) watching.end();
    vi.unstubAllGlobals();
  }
});
