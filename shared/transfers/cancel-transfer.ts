import { AppError } from '../core/errors.ts';
import type { Project } from '../projects/project.ts';
import { discardExport } from './export/discard-export.ts';
import { findTransfer } from './find-transfer.ts';
import { onTransfers } from './transfer-record.ts';
import { endOf } from './transfer-runs.ts';
import { type TransferItem, toTransferItem } from './transfer-view.ts';

/**
 * Cancels an export or import that has not ended: a run that is at work on it ends before its next part or batch. What
 * an import has inserted stays. Cancelled already → as it is; ended otherwise → 409 `TRANSFER_ENDED`; unknown → 404.
 */
export const cancelTransfer = async (project: Project, id: string): Promise<TransferItem> => {
  const record = await findTransfer(project, id);
  const cancelled = await onTransfers((transfers) =>
    transfers.findOneAndUpdate(
      { _id: record._id, state: { $in: ['awaiting', 'queued', 'running'] } },
      endOf(record, { state: 'cancelled' }),
      { returnDocument: 'after' },
    ),
  );
  if (cancelled) {
    await discardExport(cancelled);
    return toTransferItem(cancelled);
  }
  const ended = await findTransfer(project, id);
  if (ended.state === 'cancelled') return toTransferItem(ended);
  throw new AppError('TRANSFER_ENDED', `There is nothing left to cancel: this ${ended.kind} has ended.`);
};
