import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import { loadContext, TransferFailure } from '../transfer-context.ts';
import { loadObject } from '../transfer-file.ts';
import { type ImportRecord, transferKey } from '../transfer-record.ts';
import { endTransfer, requeueTransfer, saveProgress } from '../transfer-runs.ts';
import { csvLines } from './csv-lines.ts';
import { insertBatch } from './import-batch.ts';
import { type Batch, importBatches, maxErrors } from './import-batches.ts';
import { ndjsonLines } from './import-lines.ts';

/** Writes down what became of a batch, of whose documents so many are stored. */
const note = async (record: ImportRecord, batch: Batch, stored: number): Promise<ImportRecord> => {
  const progress = {
    line: batch.line,
    inserted: record.inserted + stored,
    rejected: record.rejected + batch.rejected,
    errors: [...record.errors, ...batch.errors.sort((a, b) => a.line - b.line)].slice(0, maxErrors),
  };
  await saveProgress(record, progress);
  return { ...record, ...progress };
};

const store = async (
  project: Project,
  collection: Collection,
  record: ImportRecord,
  batch: Batch,
): Promise<ImportRecord> => {
  try {
    const refused = batch.prepared.length === 0 ? [] : await insertBatch(project, collection, batch.prepared);
    for (const errors of refused) batch.reject(errors);
    return await note(record, batch, batch.prepared.length - refused.length);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'DATABASE_QUOTA_EXCEEDED')) throw error;
    await note(record, batch, 0);
    throw new TransferFailure(error.message, { cause: error });
  }
};

const linesOf = ({ format }: ImportRecord, bytes: Uint8Array, collection: Collection) =>
  format === 'csv' ? csvLines(bytes, collection) : ndjsonLines(bytes);

/**
 * Stores a file's documents, each validated as the secret key's inserts are, and reports what was wrong with others;
 * progress is kept batch by batch, and each line is stored once. What ends it for good → `TransferFailure`.
 */
export const runImport = async (claimed: ImportRecord, withinMs: number): Promise<void> => {
  const deadline = clock.now() + withinMs;
  const { collection, editedAt } = await loadContext(claimed);
  const bytes = await loadObject(transferKey(claimed));
  if (!bytes) throw new TransferFailure('The file is not there any more.');
  let record = claimed;
  for await (const batch of importBatches(linesOf(record, bytes, collection), collection, record)) {
    const now = await loadContext(record);
    // The lines were checked against a schema that has changed: the next run reads them by the new one.
    if (now.editedAt.getTime() !== editedAt.getTime()) return requeueTransfer(record);
    record = await store(now.project, collection, record, batch);
    if (batch.unreadable !== undefined) throw new TransferFailure(batch.unreadable);
    if (batch.isFull && clock.now() >= deadline) return requeueTransfer(record);
  }
  await loadContext(record);
  return endTransfer(record, { state: 'done' });
};
