import { beforeAll, describe, expect, inject, test } from 'vitest';
import { onProject } from '../../../../shared/persistence/mongo.ts';
import { runTransfer } from '../../../../shared/transfers/run-transfer.ts';
import { transferRecords } from '../../../../shared/transfers/transfer.ts';
import { inParallel, tally } from '../../../support/clients/client.ts';
import { everyType, people } from '../../../support/fixtures/collections.ts';
import { download, openTransfers, type TransferRequests } from '../../../support/fixtures/transfer-requests.ts';
import { abandon, heldExport, recordOf } from '../../../support/fixtures/transfers.ts';

let at: TransferRequests;

beforeAll(async () => {
  at = await openTransfers([everyType, people]);
});

describe('an export', () => {
  test('200 as NDJSON: one line per active document, as the data API returns it', async () => {
    const author = (await at.project.api<{ _id: string }>('POST', '/api/data/people', { body: { name: 'Ada' } })).body
      ._id;
    const body = { title: 'Ünïcode', publishedAt: '2026-01-02', author, tags: ['a', 'b'] };
    const posts: { readonly _id: string }[] = [];
    for (const title of ['one', 'two', body.title]) {
      posts.push((await at.project.api<{ _id: string }>('POST', '/api/data/posts', { body: { ...body, title } })).body);
    }
    // Ids that several processes create within one second have no time order.
    posts.sort((a, b) => (a._id < b._id ? -1 : 1));
    const trashed = await at.project.api<{ _id: string }>('POST', '/api/data/posts', { body });
    await at.project.api('DELETE', `/api/data/posts/${trashed.body._id}`);
    const done = await at.exported('posts', { format: 'ndjson' });
    expect(done).toMatchObject({ state: 'done', count: 3, failure: null });
    const { text, headers } = await download(done.url);
    expect(text.split('\n').map((line) => (line === '' ? line : JSON.parse(line)))).toEqual([...posts, '']);
    expect(Buffer.byteLength(text)).toBe(done.bytes);
    expect(headers.get('content-disposition')).toBe('attachment; filename="posts.ndjson"');
  });

  test.each([
    ['ndjson', 0, ''],
    ['json', 0, '[\n]\n'],
  ])('200 for an empty collection as %s', async (format, count, content) => {
    const done = await at.exported(await at.newCollection(), { format });
    expect(done).toMatchObject({ state: 'done', count });
    expect((await download(done.url)).text).toBe(content);
  });

  test('200 as JSON, with trashed documents on request', async () => {
    const collection = await at.newCollection();
    await at.fill(collection, 1200);
    await onProject(at.domain, (db) =>
      db.collection(collection).updateMany({ n: { $lt: 200 } }, { $set: { isDeleted: true, deletedAt: new Date() } }),
    );
    const [active, all] = [
      await at.exported(collection, { format: 'json' }),
      await at.exported(collection, { format: 'json', includeDeleted: true }),
    ];
    expect([active.count, all.count]).toEqual([1000, 1200]);
    const documents = JSON.parse((await download(all.url)).text) as { n: number }[];
    expect(documents.map(({ n }) => n)).toEqual(Array.from({ length: 1200 }, (_, n) => n));
    expect(JSON.parse((await download(active.url)).text)).toHaveLength(1000);
  });

  test('200 for many parts: ids of every type and documents of megabytes, each once', async () => {
    const collection = await at.newCollection();
    await at.fill(collection, 60, (n) => ({
      text: 'é'.repeat(100_000),
      ...(n % 3 === 0 ? { _id: `id-${n}` } : {}),
      ...(n % 3 === 1 ? { _id: n } : {}),
    }));
    await at.fill(collection, 1, () => ({ text: '\u0001'.repeat(2_000_000) }));
    const done = await at.exported(collection, { format: 'json' });
    expect(done).toMatchObject({ state: 'done', count: 61 });
    expect(done.bytes).toBeGreaterThan(20_000_000);
    const documents = JSON.parse((await download(done.url)).text) as { n: number; text: string }[];
    expect(new Set(documents.map(({ n, text }) => `${n} ${text.length}`)).size).toBe(61);
  });

  test('200 with the same result when a run is interrupted after each part', async () => {
    const collection = await at.newCollection();
    await at.fill(collection, 3000, (n) => ({ text: `${n}`.padStart(6000, 'x') }));
    const held = await heldExport(at.project.id, collection);
    const counts: number[] = [];
    for (let state = ''; state !== 'done'; ) {
      await runTransfer(held._id.toHexString(), 1);
      const record = await recordOf(held);
      if (record.kind === 'export') counts.push(record.count);
      state = record.state;
    }
    expect(counts.length).toBeGreaterThan(3);
    expect(new Set(counts.slice(0, -1)).size).toBe(counts.length - 1);
    const { body } = await at.dashboard('GET', collection, `exports/${held._id.toHexString()}`);
    const lines = (await download(body.data.url)).text.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { n: number }).n)).toEqual(
      Array.from({ length: 3000 }, (_, n) => n),
    );
  });

  test.each([
    ['after a part that it had not written down yet', { count: 0, bytes: 0, last: null, written: false, parts: [] }],
    ['after the upload was complete', {}],
  ])('200 with the same result when a run died %s', async (_what, forgotten) => {
    const collection = await at.newCollection();
    await at.fill(collection, 2000, (n) => ({ text: `${n}`.padStart(6000, 'x') }));
    const held = await heldExport(at.project.id, collection);
    await runTransfer(held._id.toHexString(), Object.keys(forgotten).length > 0 ? 1 : undefined);
    await transferRecords.updateOne({ _id: held._id }, { $set: forgotten });
    await abandon(held);
    await runTransfer(held._id.toHexString());
    expect(await recordOf(held)).toMatchObject({ state: 'done', count: 2000 });
    const { body } = await at.dashboard('GET', collection, `exports/${held._id.toHexString()}`);
    const { text } = await download(body.data.url);
    expect(text.trimEnd().split('\n')).toHaveLength(2000);
    expect(Buffer.byteLength(text)).toBe(body.data.bytes);
  });

  test('200 with exactly one file of 20 concurrent runs', async () => {
    const collection = await at.newCollection();
    await at.fill(collection, 500);
    const held = await heldExport(at.project.id, collection);
    await inParallel(20, () => runTransfer(held._id.toHexString()));
    expect(await recordOf(held)).toMatchObject({ state: 'done', count: 500, tries: 0 });
  });

  test('409 TRANSFER_RUNNING for all except one of 50 concurrent requests', async () => {
    const collection = await at.newCollection();
    await heldExport(at.project.id, collection);
    const answers = await inParallel(10, () => at.dashboard('POST', collection, 'exports', { format: 'json' }));
    expect(tally(answers)).toEqual({ 409: 10 });
    expect(answers[0]?.body).toMatchObject({ code: 'TRANSFER_RUNNING' });
    await transferRecords.updateMany({ collectionName: collection }, { $unset: { active: '' } });
    const { 201: accepted = 0, ...others } = tally(
      await inParallel(50, () => at.dashboard('POST', collection, 'exports', { format: 'json' })),
    );
    expect(accepted).toBeGreaterThanOrEqual(1);
    expect(Object.keys(others)).toEqual(['409']);
  });

  test('403 without a valid link', async () => {
    const done = await at.exported('posts', { format: 'json' });
    const { origin, pathname } = new URL(done.url ?? '');
    expect((await fetch(origin + pathname)).status).toBe(403);
    const other = new URL(done.url ?? '');
    other.pathname = pathname.replace('exports', 'imports');
    expect((await fetch(other)).status).toBe(403);
    expect(
      (await fetch(`${inject('stack').env.FILES_URL}/../exports${pathname.split('exports')[1]}`)).status,
    ).toBeGreaterThanOrEqual(400);
  });

  test('failed when the collection is deleted before the run', async () => {
    const collection = await at.newCollection();
    const held = await heldExport(at.project.id, collection);
    await at.project.developer.dashboard('DELETE', `/api/projects/${at.project.id}/collections/${collection}`);
    await runTransfer(held._id.toHexString());
    expect(await recordOf(held)).toMatchObject({ state: 'failed' });
  });
});
