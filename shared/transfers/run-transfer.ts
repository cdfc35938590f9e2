import { toCollection } from '../collections/collection-record.ts';
import { requireRecord } from '../collections/control-collections.ts';
import { AppError } from '../errors.ts';
import { describeError, log, workFor } from '../log.ts';
import { requireProject } from '../projects/find-project-by-id.ts';
import { runExport } from './run-export.ts';
import { runImport } from './run-import.ts';
import type { TransferRecord } from './transfer-record.ts';
import { claimTransfer, finishTransfer, giveBack, isHopeless } from './transfer-runs.ts';
import { runMs } from './transfer-times.ts';

const gone: ReadonlySet<string> = new Set(['PROJECT_NOT_FOUND', 'COLLECTION_NOT_FOUND']);

const run = async (record: TransferRecord, withinMs: number): Promise<void> => {
  const project = await requireProject(record.projectId.toHexString());
  const collection = toCollection(await requireRecord(project, record.collectionName));
  if (record.kind === 'export') await runExport(project, record, withinMs);
  else await runImport(project, collection, record, withinMs);
};

/** The task `transfer`: works on an export or import for a few minutes at most; what is left then is queued anew. */
export const runTransfer = async (id: string, withinMs = runMs): Promise<void> => {
  const record = await claimTransfer(id);
  if (!record) return;
  workFor(record.requestId);
  if (isHopeless(record)) {
    const failure = 'It failed again and again. Please try again later.';
    log.error({ job: 'transfer', transfer: id, failure });
    return finishTransfer(record, { state: 'failed', failure });
  }
  try {
    await run(record, withinMs);
  } catch (error) {
    if (error instanceof AppError && gone.has(error.code)) {
      return finishTransfer(record, { state: 'failed', failure: error.message });
    }
    await giveBack(record).catch((cause: unknown) => log.warn({ transfer: id, error: describeError(cause) }));
    throw error;
  }
};
