import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Collection, ObjectId } from 'mongodb';
import { vi } from 'vitest';
import { requireRecord } from '../../../shared/collections/collection-record.ts';
import { managedBucket } from '../../../shared/files/bucket.ts';
import { loadProject } from '../../../shared/projects/find-project.ts';
import { runTransfer } from '../../../shared/transfers/run-transfer.ts';
import { originOf } from '../../../shared/transfers/runs.ts';
import {
  contentTypes,
  type ExportRecord,
  type ImportRecord,
  type TransferRecord,
  transferKey,
  transferRecords,
} from '../../../shared/transfers/transfer.ts';

const hourMs = 3600_000;

/** The id of a transfer as the API gives it. */
export const idOf = ({ _id }: TransferRecord): string => _id.toHexString();

const fields = async (projectId: string, collectionName: string) => {
  const project = await loadProject(new ObjectId(projectId));
  if (!project) throw new Error('The project is gone');
  return {
    projectId: new ObjectId(projectId),
    ownerId: project.ownerId,
    collectionName,
    origin: originOf(project, await requireRecord(project, collectionName)),
    state: 'queued',
    active: true,
    leasedUntil: new Date(0),
    dueAt: new Date(Date.now() + hourMs),
    tries: 0,
    createdAt: new Date(),
    updatedAt: new Date(),
    expiresAt: new Date(Date.now() + hourMs),
  } as const;
};

const hold = async <R extends TransferRecord>(record: Omit<R, '_id'>): Promise<R> => {
  const held = { ...record, _id: new ObjectId() } as unknown as R;
  await transferRecords.insertOne(held);
  return held;
};

/** An export that nothing but the test runs: its message is never sent. */
export const heldExport = async (
  projectId: string,
  collection: string,
  { includeDeleted = false } = {},
): Promise<ExportRecord> =>
  hold<ExportRecord>({
    ...(await fields(projectId, collection)),
    kind: 'export',
    format: 'ndjson',
    includeDeleted,
    count: 0,
    bytes: 0,
    parts: [],
    last: null,
    written: false,
  });

const holdImport = async (
  projectId: string,
  collection: string,
  format: ImportRecord['format'],
): Promise<ImportRecord> =>
  hold<ImportRecord>({
    ...(await fields(projectId, collection)),
    kind: 'import',
    format,
    idSeed: randomUUID(),
    line: 0,
    inserted: 0,
    rejected: 0,
    errors: [],
  });

/** An import of NDJSON that nothing but the test runs. */
export const heldImport = async (projectId: string, collection: string, content: string): Promise<ImportRecord> => {
  const held = await holdImport(projectId, collection, 'ndjson');
  await managedBucket.put(transferKey(held), Buffer.from(content), 'application/x-ndjson');
  return held;
};

/** What a file is made of: so many copies of a block, after its first line. */
export interface Blocks {
  readonly format: ImportRecord['format'];
  readonly first: string;
  readonly block: string;
  readonly count: number;
}

/** An import that nothing but the test runs, of a file that was uploaded block by block, as it may be of any size. */
export const heldUpload = async (
  projectId: string,
  collection: string,
  { format, first, block, count }: Blocks,
): Promise<{ readonly record: ImportRecord; readonly size: number }> => {
  const record = await holdImport(projectId, collection, format);
  const size = Buffer.byteLength(first) + count * Buffer.byteLength(block);
  const terms = { contentType: contentTypes[format], size, expiresIn: 600 };
  const url = await managedBucket.presignUpload(transferKey(record), terms);
  const headers = { 'content-type': terms.contentType, 'content-length': size };
  const upload = request(url, { method: 'PUT', headers });
  const answered = once(upload, 'response');
  await pipeline(function* () {
    yield first;
    for (let n = 0; n < count; n++) yield block;
  }, upload);
  const [answer] = (await answered) as [IncomingMessage];
  answer.resume();
  if (answer.statusCode !== 200) throw new Error(`The upload was answered ${answer.statusCode}`);
  return { record, size };
};

/** Runs an import, and does something after its first batch was stored and before that is written down. */
export const runAnd = async (held: ImportRecord, act: () => Promise<unknown>): Promise<void> => {
  const stored = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const { insertMany } = Collection.prototype;
  const inserts = vi.spyOn(Collection.prototype, 'insertMany').mockImplementation(async function (
    this: Collection,
    ...args: Parameters<typeof insertMany>
  ) {
    const result = await insertMany.apply(this, args);
    if (this.collectionName === held.collectionName) {
      stored.resolve();
      await go.promise;
    }
    return result;
  });
  try {
    const running = runTransfer(idOf(held));
    await Promise.race([stored.promise, running]);
    await act().finally(go.resolve);
    await running;
  } finally {
    inserts.mockRestore();
  }
};

/** A transfer as it is now. */
export const recordOf = async ({ _id }: Pick<TransferRecord, '_id'>): Promise<TransferRecord> => {
  const record = await transferRecords.findOne({ _id });
  if (!record) throw new Error('The transfer is gone');
  return record;
};

/** Has a transfer look as if its run had died. */
export const abandon = ({ _id }: Pick<TransferRecord, '_id'>): Promise<unknown> =>
  transferRecords.updateOne({ _id }, { $set: { state: 'running', active: true, leasedUntil: new Date(0) } });
