import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { isHooked } from '../../events/announced.ts';
import { nudgeWebhooks } from '../../events/nudge.ts';
import { managedBucket, type StoredObject } from '../../files/bucket.ts';
import type { Project } from '../../projects/project.ts';
import { loadContext, TransferFailure } from '../transfer-context.ts';
import { objectPieces } from '../transfer-file.ts';
import { type ImportRecord, transferKey } from '../transfer-record.ts';
import { endTransfer, requeueTransfer, saveProgress } from '../transfer-runs.ts';
import { csvLines } from './csv-lines.ts';
import { storeBatch } from './import-batch.ts';
import { type Batch, importBatches, maxErrors } from './import-batches.ts';
import { jsonLines } from './import-lines.ts';

/** Writes down what became of a batch, of whose documents so many are stored. */
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
  // An import of a version that kept no bytes begins again, and leaves out the lines that it has dealt with.
  const from = { line: bytes > 0 ? line : 0, bytes };
  const open = (at: number) => objectPieces(transferKey(record), file, at);
  return format === 'csv' ? csvLines(open, from, collection) : jsonLines(open, from);
};

/** Why an import stored nothing; `undefined` where it did, or where every document was there before. */
const emptyReason = ({ inserted, rejected, skipped = 0, errors }: ImportRecord): string | undefined => {
  if (inserted + skipped > 0) return undefined;
  const [first] = errors;
  if (!first) return 'Nothing was imported: the file contains no documents.';
  const { line, field, message } = first;
  const all = rejected === 1 ? 'its only line was refused' : `all ${rejected} lines were refused`;
  const reason = field === '' || message.includes(field) ? message : `${field} ${message}`;
  return `Nothing was imported: ${all}. Line ${line}: ${reason}`;
};

/**
 * Stores a file's documents, each validated as the secret key's inserts are, and reports what was wrong with others; of
 * the file some MiB are held at once, progress is kept batch by batch, and each line is stored once. What ends it for
 * good → `TransferFailure`.
 */
export const runImport = async (claimed: ImportRecord, withinMs: number): Promise<void> => {
  const deadline = clock.now() + withinMs;
  const { collection, editedAt } = await loadContext(claimed);
  const file = await managedBucket.head(transferKey(claimed));
  if (!file) throw new TransferFailure('The file is not there any more.');
  let record = claimed;
  for await (const batch of importBatches(linesOf(record, file, collection), collection, record)) {
    const now = await loadContext(record);
    // The lines were checked against a schema that has changed: the next run reads them by the new one.
    if (now.editedAt.getTime() !== editedAt.getTime()) return requeueTransfer(record);
    record = await store(now.project, collection, record, batch);
    if (isHooked(now.project, 'document')) await nudgeWebhooks(now.project.id);
    if (batch.unreadable !== undefined) throw new TransferFailure(batch.unreadable);
    if (!batch.isLast && clock.now() >= deadline) return requeueTransfer(record);
  }
  await loadContext(record);
  const failure = emptyReason(record);
  if (failure !== undefined) throw new TransferFailure(failure);
  return endTransfer(record, { state: 'done' });
};
