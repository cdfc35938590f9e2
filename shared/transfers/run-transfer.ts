import { describeError, log, workFor } from '../core/log.ts';
import { runExport } from './export/run-export.ts';
import { runImport } from './import/run-import.ts';
import { TransferFailure } from './transfer-context.ts';
import { discardExport } from './transfer-file.ts';
import type { TransferRecord } from './transfer-record.ts';
import { claimTransfer, failTransfer, releaseTransfer, TransferLost, wakeNext } from './transfer-runs.ts';
import { maxTries, runMs } from './transfer-times.ts';

const work = async (record: TransferRecord, withinMs: number): Promise<void> => {
  const transfer = record._id.toHexString();
  if (record.tries > maxTries) {
    const failure = 'It failed again and again. Please try again later.';
    // Each of the runs that failed has logged why.
    log.warn({ job: 'transfer', transfer, failure });
    return failTransfer(record, failure);
  }
  try {
    await (record.kind === 'export' ? runExport(record, withinMs) : runImport(record, withinMs));
  } catch (error) {
    if (error instanceof TransferLost) throw error;
    if (error instanceof TransferFailure) return failTransfer(record, error.message);
    await releaseTransfer(record).catch((cause: unknown) => {
      // A run that is cancelled may fail in any way, as its file is being removed.
      if (cause instanceof TransferLost) throw cause;
      log.warn({ transfer, error: describeError(cause) });
    });
    throw error;
  }
};

/**
 * The task `transfer`: works on one for some minutes at most; what is left is queued anew. One whose owner has two at
 * work waits for one of them; one that is cancelled ends before its next part or batch.
 */
export const runTransfer = async (id: string, withinMs = runMs): Promise<void> => {
  const record = await claimTransfer(id);
  if (!record) return;
  workFor(record.requestId);
  try {
    await work(record, withinMs);
  } catch (error) {
    if (!(error instanceof TransferLost)) throw error;
    log.info({ job: 'transfer', transfer: id, message: 'It was cancelled, or another run has it' });
    await discardExport(record);
  } finally {
    await wakeNext(record);
  }
};
