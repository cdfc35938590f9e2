import { ObjectId } from 'mongodb';
import { findPage } from '../clients/find-page.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { idOf } from '../core/id-of.ts';
import type { PageRequest } from '../core/page.ts';
import type { Project } from '../projects/project.ts';
import { discardExport, removeExportFile } from './transfer-file.ts';
import { type ExportRecord, type ImportRecord, type TransferRecord, transferRecords } from './transfer-record.ts';
import { endOf } from './transfer-runs.ts';
import { toExportView, toImportView, toTransferItem } from './transfer-view.ts';

export const transferNotFound = (): AppError =>
  new AppError('TRANSFER_NOT_FOUND', 'There is no such export or import, or not any more.');

/** A transfer of a project; malformed, unknown, another project's or outlived → 404 `TRANSFER_NOT_FOUND`. */
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

/** An import of a collection; malformed, unknown, another collection's or outlived → 404 `TRANSFER_NOT_FOUND`. */
export const findImport = async (project: Project, collectionName: string, id: string): Promise<ImportRecord> =>
  (await findTransfer(project, id, { kind: 'import', collectionName })) as ImportRecord;

/** How an export stands, with a link to its file where it is complete; unknown → 404. */
export const getExport = async (project: Project, collectionName: string, id: string) =>
  toExportView((await findTransfer(project, id, { kind: 'export', collectionName })) as ExportRecord);

export const getImport = async (project: Project, collectionName: string, id: string) =>
  toImportView(await findImport(project, collectionName, id));

interface TransfersRequest extends PageRequest {
  /** Whose alone are listed. */
  readonly collection?: string | undefined;
}

/**
 * The exports and imports of a project, or of a collection of it, that are kept, whatever their state, newest first.
 */
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
 * Cancels an export or import that has not ended: a run that is at work on it ends before its next part or batch. What
 * an import has inserted stays. Cancelled already → as it is; ended otherwise → 409 `TRANSFER_ENDED`; unknown → 404.
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
  throw new AppError('TRANSFER_ENDED', `There is nothing left to cancel: this ${ended.kind} has ended.`);
};

/**
 * Deletes an export or import that has ended: nobody finds it from now on, and links to the file of an export lead
 * nowhere. Not ended → 409 `TRANSFER_RUNNING`, unknown → 404. What an import has inserted stays.
 */
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
