import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { onControl } from '../../../../shared/persistence/mongo.ts';
import { maintainTransfers, runTransfer } from '../../../../shared/transfers/run-transfer.ts';
import { type ImportRecord, transferKey, transferRecords } from '../../../../shared/transfers/transfer.ts';
import { loadObject } from '../../../support/clients/load-object.ts';
import { newProject } from '../../../support/fixtures/project.ts';
import { openTransfers, type TransferRequests } from '../../../support/fixtures/transfer-requests.ts';
import { heldExport, heldImport, idOf, recordOf } from '../../../support/fixtures/transfers.ts';
import { stored } from '../../../support/fixtures/trash.ts';

let at: TransferRequests;

beforeAll(async () => {
  at = await openTransfers([{ name: 'notes' }]);
});

describe('deleting returns', () => {
  const remove = (id: string, projectId = at.project.id) =>
    at.project.developer.dashboard('DELETE', `/api/projects/${projectId}/transfers/${id}`);

  test('200 for a finished export: its link stops working, and it is no longer found', async () => {
    const { _id, url } = await at.exported('notes', { format: 'json' });
    expect(await remove(_id)).toMatchObject({ status: 200, body: { success: true, data: { _id } } });
    expect((await fetch(url ?? '')).status).toBe(404);
    expect(await at.dashboard('GET', 'notes', `exports/${_id}`)).toMatchObject({ status: 404 });
    expect(await remove(_id)).toMatchObject({ status: 404, body: { code: 'TRANSFER_NOT_FOUND' } });
  });

  test('200 for an import: inserted documents stay, and the record stays until the upload link has expired', async () => {
    const collection = await at.newCollection();
    const { _id } = await at.imported(collection, { format: 'csv', content: 'a\n1' });
    const record = await recordOf({ _id: new ObjectId(_id) });
    expect((await remove(_id)).status).toBe(200);
    await maintainTransfers();
    expect(await recordOf(record)).toBeDefined();
    await transferRecords.updateOne({ _id: record._id }, { $set: { fileEndsAt: new Date(0) } });
    await maintainTransfers();
    await expect(recordOf(record)).rejects.toThrow('gone');
    expect(await loadObject(transferKey(record))).toBeUndefined();
    expect(await stored(at.domain, collection)).toBe(1);
  });

  test('409 TRANSFER_RUNNING for one that has not ended', async () => {
    const held = await heldExport(at.project.id, await at.newCollection());
    expect(await remove(idOf(held))).toMatchObject({ status: 409, body: { code: 'TRANSFER_RUNNING' } });
    expect(await recordOf(held)).toMatchObject({ state: 'queued' });
  });

  test('404 TRANSFER_NOT_FOUND for one of another project', async () => {
    const { _id } = await at.exported('notes', { format: 'json' });
    const other = await newProject([], at.project.developer);
    expect(await remove(_id, other.id)).toMatchObject({ status: 404, body: { code: 'TRANSFER_NOT_FOUND' } });
    expect(await at.dashboard('GET', 'notes', `exports/${_id}`)).toMatchObject({ status: 200 });
  });
});

describe('the list of a project', () => {
  interface List {
    readonly data: { readonly items: readonly Record<string, unknown>[]; readonly total: number };
  }
  const list = (projectId: string, query = '') =>
    at.project.developer.dashboard<List>('GET', `/api/projects/${projectId}/transfers${query}`);

  test('200 with its exports and imports, the newest first, page by page', async () => {
    const own = await newProject([{ name: 'a' }, { name: 'b' }], at.project.developer);
    const held = [
      await heldExport(own.id, 'a'),
      await heldImport(own.id, 'b', '{"n":1}\n[]'),
      await heldExport(own.id, 'b'),
    ];
    await runTransfer(idOf(held[1] as ImportRecord));
    const [newest, middle, oldest] = held.map(idOf).reverse();
    const { status, body } = await list(own.id);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      total: 3,
      items: [
        { _id: newest, kind: 'export', collection: 'b', state: 'queued', count: 0 },
        { _id: middle, kind: 'import', collection: 'b', state: 'done', inserted: 1, rejected: 1 },
        { _id: oldest, kind: 'export', collection: 'a', state: 'queued' },
      ],
    });
    expect(Object.keys(Object.assign({}, ...body.data.items))).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(url|errors|parts|last|slot|origin)$/)]),
    );
    expect((await list(own.id, '?page=2&limit=2')).body.data).toMatchObject({ total: 3, items: [{ _id: oldest }] });
    expect((await list(own.id, '?collection=b&limit=1')).body.data).toMatchObject({
      total: 2,
      items: [{ _id: newest }],
    });
    expect((await list(own.id, '?collection=none')).body.data).toMatchObject({ total: 0, items: [] });
    await transferRecords.updateMany({ projectId: new ObjectId(own.id) }, { $set: { expiresAt: new Date(0) } });
    expect((await list(own.id)).body.data).toMatchObject({ total: 0, items: [] });
  });

  test.each(['?collection=', '?collection=a&collection=b', '?name=a'])('400 INVALID_QUERY to %s', async (query) => {
    expect(await list(at.project.id, query)).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });

  test('is served by an index in its order', async () => {
    const plan = await onControl((db) =>
      db.collection('transfers').find({ projectId: new ObjectId() }).sort({ _id: -1 }).explain('queryPlanner'),
    );
    expect(JSON.stringify(plan)).toContain('"indexName":"newest"');
    expect(JSON.stringify(plan)).not.toContain('"SORT"');
  });
});
