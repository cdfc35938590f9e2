import { randomBytes } from 'node:crypto';
import type { Collection } from '../collections/collection.ts';
import { requireRecord } from '../collections/collection-record.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { describeError, log } from '../core/log.ts';
import { managedBucket, type StoredObject } from '../files/bucket.ts';
import type { Project } from '../projects/project.ts';
import { isHooked, wakeWebhookWorker } from '../webhooks/events.ts';
import { csvLines } from './csv-lines.ts';
import { storeBatch } from './import-batch.ts';
import { type Batch, importBatches, jsonLines, maxErrors } from './import-lines.ts';
import { findImport, insertTransfer, orRunning, transferNotFound } from './manage.ts';
import {
  endTransfer,
  loadContext,
  newTransfer,
  objectPieces,
  originOf,
  queued,
  queueTransfer,
  requeueTransfer,
  saveProgress,
  TransferFailure,
} from './runs.ts';
import {
  contentTypes,
  type ImportFormat,
  type ImportRecord,
  type OnConflict,
  toImportView,
  transferKey,
  transferRecords,
  uploadSeconds,
} from './transfer.ts';

const note = (record: ImportRecord, batch: Batch, stored: number): Promise<ImportRecord> =>
  saveProgress(record, {
    line: batch.line,
    bytes: batch.bytes,
    notedAt: new Date(clock.now()),
    inserted: record.inserted + stored,
    rejected: record.rejected + batch.rejected,
    skipped: (record.skipped ?? 0) + batch.skipped,
    errors: [...record.errors, ...batch.errors.sort((a, b) => a.line - b.line)].slice(0, maxErrors),
  });

const store = async (
  project: Project,
  collection: Collection,
  record: ImportRecord,
  batch: Batch,
): Promise<ImportRecord> => {
  try {
    const { refused, skipped } = await storeBatch(project, collection, record, batch.prepared);
    for (const errors of refused) batch.reject(errors);
    batch.skipped = skipped;
    return await note(record, batch, batch.prepared.length - refused.length - skipped);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'DATABASE_QUOTA_EXCEEDED')) throw error;
    await note(record, batch, 0);
    throw new TransferFailure(error.message, { cause: error });
  }
};

const linesOf = (record: ImportRecord, file: StoredObject, collection: Collection) => {
  const { format, line, bytes = 0 } = record;
  // Imports of earlier versions have no `bytes`: they read the file again and skip finished lines.
  const from = { line: bytes > 0 ? line : 0, bytes };
  const open = (at: number) => objectPieces(transferKey(record), file, at);
  return format === 'csv' ? csvLines(open, from, collection) : jsonLines(open, from);
};

/** `undefined` if something was stored, or everything existed already. */
const emptyReason = ({ inserted, rejected, skipped = 0, errors }: ImportRecord): string | undefined => {
  if (inserted + skipped > 0) return undefined;
  const [first] = errors;
  if (!first) return 'Nothing was imported: the file contains no documents.';
  const { line, field, message } = first;
  const all = rejected === 1 ? 'its only line was rejected' : `all ${rejected} lines were rejected`;
  const reason = field === '' || message.includes(field) ? message : `${field} ${message}`;
  return `Nothing was imported: ${all}. Line ${line}: ${reason}`;
};

/**
 * Stores each line once and saves progress per batch; holds some MiB in memory. Throws `TransferFailure` if it cannot
 * continue.
 */
export const runImport = async (claimed: ImportRecord, withinMs: number): Promise<void> => {
  const deadline = clock.now() + withinMs;
  const { project, collection, editedAt } = await loadContext(claimed);
  const file = await managedBucket.head(transferKey(claimed));
  if (!file) throw new TransferFailure('The file no longer exists.');
  let record = claimed;
  for await (const batch of importBatches(linesOf(record, file, collection), { project, collection }, record)) {
    const now = await loadContext(record);
    // The schema changed after these lines were checked; the next run uses the new one.
    if (now.editedAt.getTime() !== editedAt.getTime()) return requeueTransfer(record);
    record = await store(now.project, collection, record, batch);
    if (isHooked(now.project, 'document')) await wakeWebhookWorker(now.project.id);
    if (batch.unreadable !== undefined) throw new TransferFailure(batch.unreadable);
    if (!batch.isLast && clock.now() >= deadline) return requeueTransfer(record);
  }
  await loadContext(record);
  const failure = emptyReason(record);
  if (failure !== undefined) throw new TransferFailure(failure);
  return endTransfer(record, { state: 'done' });
};

export const maxImportBytes = 1024 ** 3;

interface NewImport {
  readonly format: ImportFormat;
  readonly fileName?: string | undefined;
  readonly content?: string | undefined;
  readonly size?: number | undefined;
  readonly keepIds?: boolean | undefined;
  readonly onConflict?: OnConflict | undefined;
}

const newImport = async (
  project: Project,
  collectionName: string,
  { format, fileName, content, size = Buffer.byteLength(content ?? ''), keepIds = false, onConflict }: NewImport,
): Promise<ImportRecord> => ({
  ...(await newTransfer(project, collectionName)),
  kind: 'import',
  format,
  ...(fileName !== undefined && { fileName }),
  ...(keepIds && { keepIds }),
  ...(onConflict && { onConflict }),
  size,
  idSeed: randomBytes(16).toString('base64url'),
  line: 0,
  bytes: 0,
  inserted: 0,
  rejected: 0,
  errors: [],
});

/** The record is stored first, so that a rejected import leaves no file and a stored file is always known. */
const putFile = async (record: ImportRecord, content: string, contentType: string): Promise<void> => {
  try {
    await managedBucket.put(transferKey(record), Buffer.from(content), contentType);
  } catch (error) {
    const end = { state: 'failed', failure: 'Its file could not be stored. Start it again.' } as const;
    await endTransfer(record, end).catch((cause: unknown) => log.warn({ error: describeError(cause) }));
    throw error;
  }
};

/**
 * Starts immediately with `content`; with `size`, waits for `startUploadedImport`. Throws 409 `TRANSFER_RUNNING`, 403
 * `PLAN_LIMIT`.
 */
export const startImport = async (project: Project, collectionName: string, sent: NewImport) => {
  const { format, content = '', size } = sent;
  const record = await newImport(project, collectionName, sent);
  const contentType = contentTypes[format];
  if (size !== undefined) {
    await insertTransfer(project, record);
    const terms = { contentType, size, expiresIn: uploadSeconds };
    const signedUrl = await managedBucket.presignUpload(transferKey(record), terms);
    return { ...toImportView(record), signedUrl, contentType };
  }
  const active = { ...record, ...queued() };
  await insertTransfer(project, active);
  await putFile(active, content, contentType);
  await queueTransfer(active);
  return { ...toImportView(active), signedUrl: null, contentType };
};

/** Returns an import that was started before. Throws 409 `TRANSFER_ENDED` if it was cancelled. */
const startedBefore = (record: ImportRecord) => {
  if (record.state !== 'cancelled') return toImportView(record);
  throw new AppError('TRANSFER_ENDED', 'This import was cancelled and cannot be started. Create a new one.');
};

/**
 * Starts an import after its upload; idempotent. Throws 409 `UPLOAD_NOT_READY`, 409 `TRANSFER_ENDED`, 409
 * `TRANSFER_RUNNING`, 404.
 */
export const startUploadedImport = async (project: Project, collectionName: string, id: string) => {
  const record = await findImport(project, collectionName, id);
  if (record.state !== 'awaiting') return startedBefore(record);
  if (!(await managedBucket.head(transferKey(record)))) {
    throw new AppError('UPLOAD_NOT_READY', 'The file has not been uploaded yet. PUT it to the signed URL first.');
  }
  const origin = originOf(project, await requireRecord(project, collectionName));
  const started = await orRunning(
    transferRecords.findOneAndUpdate(
      { _id: record._id, state: 'awaiting' },
      { $set: { ...queued(), origin, updatedAt: new Date(clock.now()) } },
      { returnDocument: 'after' },
    ),
  );
  if (!started) return startedBefore(await findImport(project, collectionName, id));
  if (started.kind !== 'import') throw transferNotFound();
  await queueTransfer(started);
  return toImportView(started);
};
