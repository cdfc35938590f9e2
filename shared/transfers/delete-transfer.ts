import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Project } from '../projects/project.ts';
import { removeExportFile } from './export/discard-export.ts';
import { findTransfer } from './find-transfer.ts';
import { onTransfers } from './transfer-record.ts';

/**
 * Deletes an export or import that has ended: nobody finds it from now on, and links to the file of an export lead
 * nowhere. Not ended → 409 `TRANSFER_RUNNING`, unknown → 404. What an import has inserted stays.
 */
export const deleteTransfer = async (project: Project, id: string): Promise<{ readonly _id: string }> => {
  const record = await findTransfer(project, id);
  const { _id, kind } = record;
  const { matchedCount } = await onTransfers((transfers) =>
    transfers.updateOne(
      { _id, state: { $in: ['done', 'failed', 'cancelled'] } },
      { $set: { expiresAt: new Date(clock.now()) } },
    ),
  );
  if (matchedCount === 0) throw new AppError('TRANSFER_RUNNING', `This ${kind} has not ended yet. Cancel it first.`);
  if (kind === 'export') await removeExportFile(record);
  return { _id: _id.toHexString() };
};
