import { clock } from '../clock.ts';
import type { Collection } from '../collections/collection.ts';
import { newDocument } from '../documents/new-document.ts';
import { AppError } from '../errors.ts';
import type { Project } from '../projects/project.ts';
import { csvLines } from './csv-lines.ts';
import { importedId, insertBatch, mostLines, type Prepared } from './import-batch.ts';
import { type ImportLine, ndjsonLines, UnreadableFile } from './import-lines.ts';
import { readObject } from './transfer-file.ts';
import { type ImportRecord, type LineError, transferKey } from './transfer-record.ts';
import { finishTransfer, saveProgress, sendOn } from './transfer-runs.ts';

/** A batch is stored when it has so many documents, or so many bytes of them. */
const mostDocuments = 500;
const mostBytes = 4 * 1024 * 1024;

/** The report names so many failures; the others are only counted. */
const mostErrors = 100;

/** What a run has done since progress was last written down. */
class Batch {
  readonly prepared: Prepared[] = [];
  readonly errors: LineError[] = [];
  line: number;
  rejected = 0;
  #bytes = 0;

  constructor(line: number) {
    this.line = line;
  }

  get isFull(): boolean {
    return this.prepared.length >= mostDocuments || this.#bytes >= mostBytes || this.errors.length >= mostErrors;
  }

  add(document: Prepared): void {
    this.prepared.push(document);
    this.#bytes += document.size;
  }

  reject(errors: readonly LineError[]): void {
    this.rejected += 1;
    this.errors.push(...errors);
  }
}

const prepare = (collection: Collection, record: ImportRecord, line: ImportLine, batch: Batch): void => {
  if ('problem' in line) {
    batch.reject([{ line: line.line, field: '', message: line.problem }]);
    return;
  }
  try {
    const { document, size } = newDocument(collection, { kind: 'secret' }, line.body, clock.now());
    batch.add({ line: line.line, size, document: { ...document, _id: importedId(record._id, line.line) } });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { errors = [{ field: '', message: error.message }] } = error;
    batch.reject(errors.map(({ field, message }) => ({ line: line.line, field, message })));
  }
};

const store = async (
  project: Project,
  collection: Collection,
  record: ImportRecord,
  batch: Batch,
): Promise<ImportRecord> => {
  const refused = batch.prepared.length === 0 ? [] : await insertBatch(project, collection, batch.prepared);
  for (const errors of refused) batch.reject(errors);
  const progress = {
    line: batch.line,
    inserted: record.inserted + batch.prepared.length - refused.length,
    rejected: record.rejected + batch.rejected,
    errors: [...record.errors, ...batch.errors.sort((a, b) => a.line - b.line)].slice(0, mostErrors),
  };
  await saveProgress(record, progress);
  return { ...record, ...progress };
};

const linesOf = ({ format }: ImportRecord, bytes: Uint8Array, collection: Collection) =>
  format === 'csv' ? csvLines(bytes, collection) : ndjsonLines(bytes);

/** Thrown on the way to say why an import cannot go on. */
const endsImport = (error: unknown): error is Error =>
  error instanceof UnreadableFile || (error instanceof AppError && error.code === 'DATABASE_QUOTA_EXCEEDED');

/**
 * Stores the documents of a file, each validated as the secret key's inserts are, and reports line by line what was wrong
 * with others. Progress is written down batch by batch; a line that is imported again by a later run of the same import is
 * stored once.
 */
export const runImport = async (
  project: Project,
  collection: Collection,
  claimed: ImportRecord,
  withinMs: number,
): Promise<void> => {
  const deadline = clock.now() + withinMs;
  const bytes = await readObject(transferKey(claimed));
  if (!bytes) return finishTransfer(claimed, { state: 'failed', failure: 'The file is not there any more.' });
  let record = claimed;
  let batch = new Batch(record.line);
  try {
    for await (const line of linesOf(record, bytes, collection)) {
      if (line.line <= record.line) continue;
      if (line.line > mostLines) throw new UnreadableFile(`The file has more than ${mostLines} lines.`);
      prepare(collection, record, line, batch);
      batch.line = line.line;
      if (!batch.isFull) continue;
      record = await store(project, collection, record, batch);
      batch = new Batch(record.line);
      if (clock.now() >= deadline) return await sendOn(record);
    }
    record = await store(project, collection, record, batch);
  } catch (error) {
    if (!endsImport(error)) throw error;
    if (error instanceof UnreadableFile) record = await store(project, collection, record, batch);
    return finishTransfer(record, { state: 'failed', failure: error.message });
  }
  return finishTransfer(record, { state: 'done' });
};
