import { beforeAll, describe, expect, test, vi } from 'vitest';
import { runTransfer } from '../../../../shared/transfers/run-transfer.ts';
import { exportParts } from '../../../../shared/transfers/runs.ts';
import {
  type ExportRecord,
  type ImportRecord,
  transferKey,
  transferRecords,
} from '../../../../shared/transfers/transfer.ts';
import { inParallel, tally } from '../../../support/clients/client.ts';
import { loadObject } from '../../../support/clients/load-object.ts';
import { newProject } from '../../../support/fixtures/project.ts';
import {
  openTransfers,
  type TransferBody,
  type TransferRequests,
} from '../../../support/fixtures/transfer-requests.ts';
import { heldExport, heldImport, idOf, recordOf, runAnd } from '../../../support/fixtures/transfers.ts';
import { stored } from '../../../support/fixtures/trash.ts';

let at: TransferRequests;

beforeAll(async () => {
  at = await openTransfers([{ name: 'notes' }]);
});

const cancel = (id: string, projectId = at.project.id) =>
  at.project.developer.dashboard<TransferBody>('POST', `/api/projects/${projectId}/transfers/${id}/cancel`);

describe('cancelling returns', () => {
  test('200 for a queued export: it never runs, and another one can be started', async () => {
    const collection = await at.newCollection();
    const held = await heldExport(at.project.id, collection);
    expect(await cancel(idOf(held))).toMatchObject({
      status: 200,
      body: {
        success: true,
        data: { _id: idOf(held), kind: 'export', state: 'cancelled' },
        message: 'Export cancelled',
      },
    });
    await runTransfer(idOf(held));
    const { body } = await at.dashboard('GET', collection, `exports/${idOf(held)}`);
    expect(body.data).toMatchObject({ state: 'cancelled', url: null, failure: null });
    expect(await at.exported(collection, { format: 'json' })).toMatchObject({ state: 'done' });
  });

  /** An import whose file is uploaded, and a call that starts it. */
  const awaiting = async (collection: string) => {
    const upload = { format: 'csv', upload: true, size: 3 };
    const { _id, signedUrl, contentType } = (await at.dashboard('POST', collection, 'imports', upload)).body.data;
    await fetch(signedUrl ?? '', { method: 'PUT', headers: { 'content-type': contentType }, body: 'a\n1' });
    return { _id, start: () => at.dashboard('POST', collection, `imports/${_id}/start`) };
  };

  test('200 for an import that waits for its file; starting it then returns 409 TRANSFER_ENDED', async () => {
    const { _id, start } = await awaiting('notes');
    expect(await cancel(_id)).toMatchObject({ status: 200, body: { data: { kind: 'import', state: 'cancelled' } } });
    expect(await start()).toMatchObject({
      status: 409,
      body: { code: 'TRANSFER_ENDED', message: expect.stringContaining('was cancelled') },
    });
    expect((await at.dashboard('GET', 'notes', `imports/${_id}`)).body.data).toMatchObject({ inserted: 0 });
  });

  test('200 or 409 TRANSFER_ENDED for each of 50 concurrent starts of an import while it is cancelled', async () => {
    const collection = await at.newCollection();
    const { _id, start } = await awaiting(collection);
    const answers = await inParallel(50, (n) => (n === 25 ? cancel(_id) : start()));
    const refusals = answers.filter(({ status }) => status !== 200);
    for (const refusal of refusals) expect(refusal).toMatchObject({ status: 409, body: { code: 'TRANSFER_ENDED' } });
    const { state } = await at.ended(collection, 'imports', _id);
    expect([state, (await start()).status]).toEqual(state === 'cancelled' ? ['cancelled', 409] : ['done', 200]);
  });

  test('200 during a run: the import stops and reports the stored documents', async () => {
    const collection = await at.newCollection();
    const content = Array.from({ length: 3000 }, (_, n) => JSON.stringify({ n })).join('\n');
    const held = await heldImport(at.project.id, collection, content);
    await runAnd(held, async () =>
      expect(await cancel(idOf(held))).toMatchObject({ status: 200, body: { data: { state: 'cancelled' } } }),
    );
    const record = (await recordOf(held)) as ImportRecord;
    expect(record.state).toBe('cancelled');
    expect(record.inserted).toBeLessThan(3000);
    expect(await stored(at.domain, collection)).toBe(record.inserted);
  });

  test('200 between two parts: the export leaves neither a file nor an upload', async () => {
    const collection = await at.newCollection();
    await at.fill(collection, 2000, (n) => ({ text: `${n}`.padStart(6000, 'x') }));
    const held = await heldExport(at.project.id, collection);
    await runTransfer(idOf(held), 1);
    const { uploadId = '', parts } = (await recordOf(held)) as ExportRecord;
    expect(parts.length).toBeGreaterThan(0);
    expect((await cancel(idOf(held))).status).toBe(200);
    await runTransfer(idOf(held));
    expect(await exportParts().list({ key: transferKey(held), uploadId })).toBeUndefined();
    expect(await loadObject(transferKey(held))).toBeUndefined();
  });

  test('200 during a run: no file of the export is left when the run has ended', async () => {
    const collection = await at.newCollection();
    await at.fill(collection, 4000, (n) => ({ text: `${n}`.padStart(6000, 'x') }));
    const held = await heldExport(at.project.id, collection);
    const running = runTransfer(idOf(held));
    await vi.waitFor(async () => expect(await recordOf(held)).not.toMatchObject({ count: 0 }), {
      timeout: 60_000,
      interval: 5,
    });
    const { status } = await cancel(idOf(held));
    await running;
    const { state } = await recordOf(held);
    expect([status, state]).toEqual(state === 'done' ? [409, 'done'] : [200, 'cancelled']);
    if (state === 'cancelled') expect(await loadObject(transferKey(held))).toBeUndefined();
  });

  test('200 again, and for all of 20 concurrent requests', async () => {
    const held = await heldExport(at.project.id, await at.newCollection());
    expect(tally(await inParallel(20, () => cancel(idOf(held))))).toEqual({ 200: 20 });
    expect(await cancel(idOf(held))).toMatchObject({ status: 200, body: { data: { state: 'cancelled' } } });
  });

  test('409 TRANSFER_ENDED for one that is done', async () => {
    const { _id } = await at.imported('notes', { format: 'csv', content: 'a\n1' });
    expect(await cancel(_id)).toMatchObject({ status: 409, body: { code: 'TRANSFER_ENDED' } });
    const { body } = await at.dashboard('GET', 'notes', `imports/${_id}`);
    expect(body.data).toMatchObject({ state: 'done', inserted: 1 });
  });

  test('404 TRANSFER_NOT_FOUND for an unknown, malformed, expired id or one of another project', async () => {
    const held = await heldExport(at.project.id, await at.newCollection());
    const other = await newProject([], at.project.developer);
    const outlived = await heldExport(at.project.id, await at.newCollection());
    await transferRecords.updateOne({ _id: outlived._id }, { $set: { expiresAt: new Date(0) } });
    for (const answer of [
      await cancel('f'.repeat(24)),
      await cancel('x'),
      await cancel(idOf(outlived)),
      await cancel(idOf(held), other.id),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'TRANSFER_NOT_FOUND' } });
    }
    expect(await recordOf(held)).toMatchObject({ state: 'queued' });
  });
});
