import { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { onDuplicateKey, retryOnConflict } from '../core/retry.ts';
import type { PageRequest } from '../core/values.ts';
import { idOf } from '../core/values.ts';
import { findPage } from '../persistence/records.ts';
import { insertInSlot } from '../projects/create-project.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import { discardExport, endOf, removeExportFile } from './runs.ts';
import {
  type ExportRecord,
  type ImportRecord,
  type TransferRecord,
  toExportView,
  toImportView,
  toTransferItem,
  transferRecords,
} from './transfer.ts';

export const transferNotFound = (): AppError =>
  new AppError('TRANSFER_NOT_FOUND', 'Export or import not found. It may have been deleted or expired.');

const findTransfer = async (
  project: Project,
  id: string,
  of: Partial<Pick<TransferRecord, 'kind' | 'collectionName'>> = {},
): Promise<TransferRecord> => {
  const _id = idOf(id);
  const kept = { projectId: new ObjectId(project.id), expiresAt: { $gt: new Date(clock.now()) } };
  const record = _id && (await transferRecords.findOne({ ...of, _id, ...kept }));
  if (!record) throw transferNotFound();
  return record;
};

export const findImport = async (project: Project, collectionName: string, id: string): Promise<ImportRecord> =>
  (await findTransfer(project, id, { kind: 'import', collectionName })) as ImportRecord;

/** Includes a download link if the file is complete. */
export const getExport = async (project: Project, collectionName: string, id: string) =>
  toExportView((await findTransfer(project, id, { kind: 'export', collectionName })) as ExportRecord);

export const getImport = async (project: Project, collectionName: string, id: string) =>
  toImportView(await findImport(project, collectionName, id));

interface TransfersRequest extends PageRequest {
  readonly collection?: string | undefined;
}

export const listTransfers = async ({ id }: Project, { collection, ...request }: TransfersRequest) => {
  const filter = {
    projectId: new ObjectId(id),
    expiresAt: { $gt: new Date(clock.now()) },
    ...(collection !== undefined && { collectionName: collection }),
  };
  const shown = { projection: { parts: 0, errors: 0, last: 0 }, sort: { _id: -1 } } as const;
  return findPage(transferRecords, filter, request, shown, toTransferItem);
};

/**
 * The run stops before its next part or batch; imported documents stay. Idempotent. Throws 409 `TRANSFER_ENDED`, 404.
 */
export const cancelTransfer = async (project: Project, id: string) => {
  const record = await findTransfer(project, id);
  const cancelled = await transferRecords.findOneAndUpdate(
    { _id: record._id, state: { $in: ['awaiting', 'queued', 'running'] } },
    endOf(record, { state: 'cancelled' }),
    { returnDocument: 'after' },
  );
  if (cancelled) {
    await discardExport(cancelled);
    return toTransferItem(cancelled);
  }
  const ended = await findTransfer(project, id);
  if (ended.state === 'cancelled') return toTransferItem(ended);
  throw new AppError('TRANSFER_ENDED', `Nothing to cancel: this ${ended.kind} has ended.`);
};

/** Deletes a finished transfer and an export's file; imported documents stay. Throws 409 `TRANSFER_RUNNING`, 404. */
export const deleteTransfer = async (project: Project, id: string): Promise<{ readonly _id: string }> => {
  const record = await findTransfer(project, id);
  const { _id, kind } = record;
  const { matchedCount } = await transferRecords.updateOne(
    { _id, state: { $in: ['done', 'failed', 'cancelled'] } },
    { $set: { expiresAt: new Date(clock.now()) } },
  );
  if (matchedCount === 0) throw new AppError('TRANSFER_RUNNING', `This ${kind} has not ended yet. Cancel it first.`);
  if (kind === 'export') await removeExportFile(record);
  return { _id: _id.toHexString() };
};

const transferRunning = (cause?: unknown): AppError =>
  new AppError(
    'TRANSFER_RUNNING',
    'Another export or import of this collection is running. Retry when it has finished.',
    { cause },
  );

/** A unique index allows one active transfer per kind and collection; otherwise throws 409 `TRANSFER_RUNNING`. */
export const orRunning = <T>(write: Promise<T>): Promise<T> =>
  onDuplicateKey(write, (error) => {
    throw transferRunning(error);
  });

type Unended = Pick<TransferRecord, '_id' | 'kind' | 'collectionName' | 'active' | 'slot' | 'expiresAt'>;

const shown = { kind: 1, collectionName: 1, active: 1, slot: 1, expiresAt: 1 } as const;

/** Imports whose upload is overdue release their slots first. */
const unendedOf = async (project: Project): Promise<readonly Unended[]> => {
  const projectId = new ObjectId(project.id);
  const unended = [{ slot: { $exists: true } }, { active: true as const }].map((state) => ({ projectId, ...state }));
  const records = await transferRecords.find({ $or: unended }, { projection: shown });
  const now = new Date(clock.now());
  const outlived = records.filter(({ expiresAt }) => expiresAt <= now);
  if (outlived.length === 0) return records;
  const chosen = { _id: { $in: outlived.map(({ _id }) => _id) }, expiresAt: { $lte: now } };
  await transferRecords.updateMany(chosen, { $unset: { slot: '', active: '' } });
  return records.filter((record) => !outlived.includes(record));
};

/** `null` if another caller took the slot. */
const attempt = async (project: Project, record: TransferRecord): Promise<unknown> => {
  const others = await unendedOf(project);
  // The driver repeated an insert whose response was lost.
  if (others.some(({ _id }) => _id.equals(record._id))) return true;
  const isSame = ({ active, kind, collectionName }: Unended) =>
    active === true && kind === record.kind && collectionName === record.collectionName;
  if (record.active && others.some(isSame)) throw transferRunning();
  const { transfers: limit } = plans[project.plan];
  const what = `The ${project.plan} plan allows ${limit} unfinished exports and imports in a project, including imports that wait for their file. Wait until one has ended, or cancel one.`;
  return insertInSlot(transferRecords, record, others, limit, () => new AppError('PLAN_LIMIT', what));
};

/** Throws 409 `TRANSFER_RUNNING`, 403 `PLAN_LIMIT`. Unique indexes make both exact under concurrency. */
export const insertTransfer = async (project: Project, record: TransferRecord): Promise<void> => {
  await retryOnConflict('Too many exports and imports are being started at the same time. Retry.', () =>
    attempt(project, record),
  );
};
