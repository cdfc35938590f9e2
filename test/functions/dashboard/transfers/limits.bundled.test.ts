import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { AppError } from '../../../../shared/core/errors.ts';
import { managedBucket } from '../../../../shared/files/bucket.ts';
import { onFiles } from '../../../../shared/persistence/s3.ts';
import { plans } from '../../../../shared/projects/plans.ts';
import { startImport } from '../../../../shared/transfers/import.ts';
import { maintainTransfers, runTransfer } from '../../../../shared/transfers/run-transfer.ts';
import { exportParts } from '../../../../shared/transfers/runs.ts';
import { type ExportRecord, transferKey, transferRecords } from '../../../../shared/transfers/transfer.ts';
import { inParallel, tally } from '../../../support/clients/client.ts';
import { loadObject } from '../../../support/clients/load-object.ts';
import { newDeveloper, newProject } from '../../../support/fixtures/project.ts';
import {
  openTransfers,
  type TransferBody,
  type TransferRequests,
} from '../../../support/fixtures/transfer-requests.ts';
import { heldExport, heldImport, recordOf } from '../../../support/fixtures/transfers.ts';

const { transfers: most } = plans.free;
const upload = { format: 'csv', upload: true, size: 3 };

let at: TransferRequests;

beforeAll(async () => {
  at = await openTransfers([{ name: 'notes' }]);
});

const filesOf = (projectId: string): Promise<number> =>
  onFiles(async (client, Bucket) => {
    const { KeyCount = 0 } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: `imports/${projectId}/` }));
    return KeyCount;
  });

describe('403 PLAN_LIMIT beyond the concurrent exports and imports that a plan allows', () => {
  const begun = async () => {
    const free = await newDeveloper('free');
    const { id } = await newProject([{ name: 'notes' }, { name: 'posts' }], free);
    const imports = `/api/projects/${id}/collections/notes/imports`;
    const start = () => free.dashboard<TransferBody>('POST', imports, upload);
    const full = async () => {
      const answers = await inParallel(most, start);
      expect(tally(answers)).toEqual({ 201: most });
      return answers[0]?.body.data._id ?? '';
    };
    return { id, free, imports, start, full };
  };

  test('exactly for 30 concurrent requests of any kind, which store no file in the bucket', async () => {
    const { id, free, imports, start } = await begun();
    expect(tally(await inParallel(30, start))).toEqual({ 201: most, 403: 30 - most });
    for (const answer of [
      await start(),
      await free.dashboard('POST', imports, { format: 'csv', content: 'a\n1' }),
      await free.dashboard('POST', `/api/projects/${id}/collections/posts/exports`, { format: 'json' }),
    ]) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'PLAN_LIMIT' } });
    }
    expect(await filesOf(id)).toBe(0);
  });

  test('until one is cancelled', async () => {
    const { id, free, start, full } = await begun();
    const first = await full();
    expect((await start()).status).toBe(403);
    await free.dashboard('POST', `/api/projects/${id}/transfers/${first}/cancel`);
    expect(tally(await inParallel(5, start))).toEqual({ 201: 1, 403: 4 });
  });

  test('until one has ended', async () => {
    const { free, imports, start, full } = await begun();
    const first = await full();
    const key = transferKey(await recordOf({ _id: new ObjectId(first) }));
    await onFiles((client, Bucket) => client.send(new PutObjectCommand({ Bucket, Key: key, Body: 'a\n1' })));
    await free.dashboard('POST', `${imports}/${first}/start`);
    await expect.poll(async () => (await recordOf({ _id: new ObjectId(first) })).state).toBe('done');
    expect(tally(await inParallel(5, start))).toEqual({ 201: 1, 403: 4 });
  });

  test('until an upload was pending for an hour', async () => {
    const { id, start, full } = await begun();
    await full();
    const ofProject = { projectId: new ObjectId(id) };
    const [oldest] = await transferRecords.find(ofProject);
    const waits = (oldest?.expiresAt.getTime() ?? 0) - (oldest?.createdAt.getTime() ?? 0);
    expect(waits).toBe(3600_000);
    await transferRecords.updateMany(ofProject, { $set: { expiresAt: new Date(0) } });
    expect(tally(await inParallel(10, start))).toEqual({ 201: most, 403: 10 - most });
  });
});

test('409 TRANSFER_RUNNING stores no file in the bucket', async () => {
  const collection = await at.newCollection();
  await heldImport(at.project.id, collection, '{}');
  const before = await filesOf(at.project.id);
  const content = { format: 'ndjson', content: '{"n":1}' };
  const answers = await inParallel(10, () => at.dashboard('POST', collection, 'imports', content));
  expect(tally(answers)).toEqual({ 409: 10 });
  expect(await filesOf(at.project.id)).toBe(before);
});

test('failed when the file cannot be stored, and another import can be started immediately', async () => {
  const collection = await at.newCollection();
  const down = new AppError('SERVICE_UNAVAILABLE', 'The storage is down.', { retryAfter: 5 });
  const put = vi.spyOn(managedBucket, 'put').mockRejectedValueOnce(down);
  const start = () => startImport(at.domain, collection, { format: 'csv', content: 'a\n1' });
  await expect(start()).rejects.toBe(down);
  put.mockRestore();
  const [record] = await transferRecords.find({ projectId: new ObjectId(at.project.id), collectionName: collection });
  expect(record).toMatchObject({ state: 'failed', failure: expect.stringContaining('Start it again') as unknown });
  expect(await start()).toMatchObject({ state: 'queued' });
});

test('the file of a finished import is deleted when its link has expired, and the report stays', async () => {
  const { _id } = await at.imported('notes', { format: 'csv', content: 'a\n1' });
  const record = await recordOf({ _id: new ObjectId(_id) });
  expect(record).toHaveProperty('fileEndsAt', new Date(record.createdAt.getTime() + 20 * 60_000));
  expect(await loadObject(transferKey(record))).toBeDefined();
  await transferRecords.updateOne({ _id: record._id }, { $set: { fileEndsAt: new Date(0) } });
  await maintainTransfers();
  expect(await loadObject(transferKey(record))).toBeUndefined();
  expect(await recordOf(record)).not.toHaveProperty('fileEndsAt');
  expect(await at.dashboard('GET', 'notes', `imports/${_id}`)).toMatchObject({ body: { data: { inserted: 1 } } });
});

describe('failed for an export that exceeds the plan’s storage for exports', () => {
  const collectionOf = async (documents: number) => {
    const collection = await at.newCollection();
    await at.fill(collection, documents, (n) => ({ text: `${n}`.padStart(6000, 'x') }));
    return collection;
  };
  const isOver = { state: 'failed', failure: expect.stringContaining('20 GiB') as unknown };
  const bytes = plans.pro.exportBytes;

  test('when it is too large alone, and no file is left', async () => {
    const held = await heldExport(at.project.id, await collectionOf(3000));
    const id = held._id.toHexString();
    await runTransfer(id, 1);
    await transferRecords.updateOne({ _id: held._id }, { $set: { bytes } });
    await runTransfer(id);
    const { uploadId = '', ...record } = (await recordOf(held)) as ExportRecord;
    expect(record).toMatchObject(isOver);
    expect(await exportParts().list({ key: transferKey(held), uploadId })).toBeUndefined();
    expect(await loadObject(transferKey(held))).toBeUndefined();
  });

  test('when it is too large together with others, until one of them is deleted', async () => {
    const collection = await collectionOf(10);
    const first = await heldExport(at.project.id, collection);
    await runTransfer(first._id.toHexString());
    await transferRecords.updateOne({ _id: first._id }, { $set: { bytes: bytes - 1 } });
    const second = await heldExport(at.project.id, collection);
    await runTransfer(second._id.toHexString());
    expect(await recordOf(second)).toMatchObject(isOver);
    const path = `/api/projects/${at.project.id}/transfers/${first._id.toHexString()}`;
    expect(await at.project.developer.dashboard('DELETE', path)).toMatchObject({ status: 200 });
    const third = await heldExport(at.project.id, collection);
    await runTransfer(third._id.toHexString());
    expect(await recordOf(third)).toMatchObject({ state: 'done' });
  });
});
