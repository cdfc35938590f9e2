import { ObjectId } from 'mongodb';
import type { Collection } from '../collections/collection.ts';
import {
  type CollectionRecord,
  collectionRecords,
  requireRecord,
  toCollection,
} from '../collections/collection-record.ts';
import { clock } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { tryOrLog } from '../core/log.ts';
import { requestIdNow } from '../core/request.ts';
import { onDuplicateKey } from '../core/retry.ts';
import { managedBucket, type StoredObject } from '../files/bucket.ts';
import { type MultipartBucket, multipartBucket } from '../files/multipart.ts';
import { acquire, changeHeld, isFree, release } from '../persistence/lease.ts';
import { databaseOf } from '../persistence/mongo.ts';
import { onFiles } from '../persistence/s3.ts';
import { queueSoon, queueTask } from '../persistence/work-queue.ts';
import { loadProject } from '../projects/find-project.ts';
import type { Project } from '../projects/project.ts';
import {
  type ExportRecord,
  expiry,
  lease,
  leasedTransfers,
  type Origin,
  type TransferRecord,
  transferKey,
  transferRecords,
  uploadEnd,
  uploadExpiry,
  whenLost,
} from './transfer.ts';

/** Ends the transfer as failed; the message is for users. */
export class TransferFailure extends Error {
  override readonly name = 'TransferFailure';
}

interface TransferContext {
  readonly project: Project;
  readonly collection: Collection;
  readonly editedAt: Date;
}

export const originOf = (project: Project, { _id }: Pick<CollectionRecord, '_id'>): Origin => ({
  database: databaseOf(project),
  collectionId: _id,
});

/**
 * Reads the current records, because a run takes minutes. Throws `TransferFailure` if project or collection were
 * deleted or moved since the request.
 */
export const loadContext = async ({ projectId, origin, kind }: TransferRecord): Promise<TransferContext> => {
  const [project, record] = await Promise.all([
    loadProject(projectId),
    collectionRecords.findOne({ _id: origin.collectionId, state: 'active' }),
  ]);
  if (!project) throw new TransferFailure('The project was deleted.');
  if (!record) throw new TransferFailure('The collection was deleted in the meantime.');
  if (databaseOf(project) !== origin.database) {
    throw new TransferFailure(
      kind === 'export'
        ? 'The project was moved to another database in the meantime. Start a new export.'
        : 'The project was moved to another database in the meantime. The documents inserted before are in the old database.',
    );
  }
  return { project, collection: toCollection(record), editedAt: record.updatedAt };
};

/** Initial fields, not active yet. Throws 404 `COLLECTION_NOT_FOUND`. */
export const newTransfer = async (project: Project, collectionName: string) => {
  const collection = await requireRecord(project, collectionName);
  const now = new Date(clock.now());
  const requestId = requestIdNow();
  return {
    _id: newId(),
    ...(requestId !== undefined && { requestId }),
    projectId: new ObjectId(project.id),
    ownerId: project.ownerId,
    collectionName,
    origin: originOf(project, collection),
    state: 'awaiting',
    leasedUntil: new Date(0),
    dueAt: now,
    tries: 0,
    createdAt: now,
    updatedAt: now,
    expiresAt: uploadExpiry(now),
  } as const;
};

export const queued = () => ({ state: 'queued', active: true, dueAt: whenLost(), expiresAt: expiry() }) as const;

/** If SQS fails, the schedule queues it. */
export const queueTransfer = ({ _id }: Pick<TransferRecord, '_id'>): Promise<boolean> =>
  queueSoon({ task: 'transfer', transferId: _id.toHexString() });

export const exportParts = (): MultipartBucket => multipartBucket(onFiles);

export const abortUpload = async (record: TransferRecord): Promise<void> => {
  if (record.kind !== 'export' || record.uploadId === undefined) return;
  await exportParts().abort({ key: transferKey(record), uploadId: record.uploadId });
};

/** Bytes per request; small enough for slow connections. */
const pieceBytes = 4 * 1024 * 1024;

/** Streams an object from an offset. Throws `TransferFailure` if it was deleted or replaced. */
export const objectPieces = async function* (
  key: string,
  { size, etag }: Pick<StoredObject, 'size' | 'etag'>,
  from: number,
): AsyncGenerator<Uint8Array> {
  for (let at = from; at < size; at += pieceBytes) {
    const piece = await managedBucket.read(key, etag, pieceBytes, at);
    if (!piece) throw new TransferFailure('The file was removed, or another was uploaded in its place.');
    yield piece;
  }
};

/** If it fails, the file is deleted when the record expires. */
export const removeExportFile = async (record: ExportRecord): Promise<void> => {
  const key = transferKey(record);
  await tryOrLog('warn', { message: 'The file of an export stays', key }, async () => {
    await abortUpload(record);
    await managedBucket.remove([key]);
  });
};

/** Deletes an export's file; does nothing for imports. */
export const discardExport = async (record: TransferRecord): Promise<void> => {
  if (record.kind !== 'export') return;
  const now = await transferRecords.findOne({ _id: record._id });
  if (!now || now.state === 'failed' || now.state === 'cancelled')
    await removeExportFile(now?.kind === 'export' ? now : record);
};

/** Concurrent runs per owner: fewer than the queue has, so that one owner cannot use them all. */
const mostRunning = 2;

const active = (id: string) => ({ _id: new ObjectId(id), active: true as const });

/** A unique index on turns decides; `taken` if another transfer of the owner has it. */
const claimTurn = (id: string, turn: number): Promise<TransferRecord | null | 'taken'> => {
  const until = lease();
  const change = {
    $set: { state: 'running', turn, dueAt: until, updatedAt: new Date(clock.now()) },
    $unset: { waits: '' },
    $inc: { tries: 1 },
  } as const;
  return onDuplicateKey(acquire(leasedTransfers, active(id), until, change), () => 'taken');
};

/**
 * `null` if it has ended, another run has it, or the owner has too many running. A waiting one is queued when one of
 * those stops, or by the schedule.
 */
export const claimTransfer = async (id: string): Promise<TransferRecord | null> => {
  for (let turn = 0; turn < mostRunning; turn++) {
    const claimed = await claimTurn(id, turn);
    if (claimed !== 'taken') return claimed;
  }
  await transferRecords.updateOne(isFree(leasedTransfers, active(id)), { $set: { waits: true, dueAt: whenLost() } });
  return null;
};

/** Queues the owner's longest waiting transfer; the schedule covers failures. */
export const wakeNext = async ({ ownerId }: TransferRecord): Promise<void> => {
  await tryOrLog('warn', { message: 'A transfer waits for the schedule' }, async () => {
    const next = await transferRecords.findOneAndUpdate(
      { ownerId, waits: true, active: true },
      { $unset: { waits: '' }, $set: { dueAt: whenLost() } },
      { sort: { dueAt: 1 }, projection: { _id: 1 } },
    );
    if (next) await queueTransfer(next);
  });
};

/** Thrown when a run must stop: cancelled, deleted, or claimed by another run. */
export class TransferLost extends Error {
  override readonly name = 'TransferLost';
}

const orLost = async (changed: Promise<boolean>): Promise<void> => {
  if (!(await changed)) throw new TransferLost();
};

/** Saves progress and returns the record. Throws `TransferLost`. */
export const saveProgress = async <R extends TransferRecord>(record: R, progress: Partial<R>): Promise<R> => {
  const { _id, leasedUntil } = record;
  const update: object = { $set: { ...progress, tries: 0, updatedAt: new Date(clock.now()) } };
  const before = await transferRecords.findOneAndUpdate({ _id, leasedUntil }, update, { projection: { active: 1 } });
  if (!before?.active) throw new TransferLost();
  return { ...record, ...progress };
};

type TransferEnd = { readonly state: 'done' | 'cancelled' } | { readonly state: 'failed'; readonly failure: string };

/** Frees the slot and allows deleting an import's file. */
export const endOf = ({ kind, createdAt }: TransferRecord, end: TransferEnd): object => ({
  $set: {
    ...end,
    updatedAt: new Date(clock.now()),
    ...(kind === 'import' && { fileEndsAt: uploadEnd(createdAt) }),
  },
  $unset: { active: '', slot: '', turn: '', waits: '' },
});

/** Throws `TransferLost` if another run has it. */
export const endTransfer = (record: TransferRecord, end: TransferEnd): Promise<void> =>
  orLost(changeHeld(leasedTransfers, record, endOf(record, end)));

export const failTransfer = async (record: TransferRecord, failure: string): Promise<void> => {
  await endTransfer(record, { state: 'failed', failure });
  await discardExport(record);
};

/** Another run can continue immediately. Throws `TransferLost` if another run has it. */
export const releaseTransfer = (record: TransferRecord): Promise<void> =>
  orLost(release(leasedTransfers, record, { $set: { state: 'queued', dueAt: whenLost() }, $unset: { turn: '' } }));

/** Stops early and queues the next run. */
export const requeueTransfer = async (record: TransferRecord): Promise<void> => {
  await releaseTransfer(record);
  await wakeNext(record);
  await queueTask({ task: 'transfer', transferId: record._id.toHexString() });
};
