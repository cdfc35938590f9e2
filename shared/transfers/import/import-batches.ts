import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import { newDocument } from '../../documents/write/new-document.ts';
import type { ImportRecord, LineError } from '../transfer-record.ts';
import { importedId, lineErrors, maxLines, type Prepared } from './import-batch.ts';
import { type ImportLine, UnreadableFile } from './import-lines.ts';

/** A batch is stored when it has so many documents, or so many bytes of them. */
const maxDocuments = 500;
const maxBytes = 4 * 1024 * 1024;

/** The report names so many failures; the others are only counted. */
export const maxErrors = 100;

/** Lines of a file that are stored, and written down, together. */
export class Batch {
  readonly prepared: Prepared[] = [];
  readonly errors: LineError[] = [];
  /** The last of them. */
  line: number;
  rejected = 0;
  /** Why the file cannot be read beyond it. */
  unreadable: string | undefined;
  #bytes = 0;

  constructor(line: number) {
    this.line = line;
  }

  get isFull(): boolean {
    return this.prepared.length >= maxDocuments || this.#bytes >= maxBytes || this.errors.length >= maxErrors;
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
  batch.line = line.line;
  if ('problem' in line) {
    batch.reject([{ line: line.line, field: '', message: line.problem }]);
    return;
  }
  try {
    const { document, size } = newDocument(collection, { kind: 'secret' }, line.body, clock.now());
    batch.add({ line: line.line, size, document: { ...document, _id: importedId(record, line.line) } });
  } catch (error) {
    batch.reject(lineErrors(line.line, error));
  }
};

type Lines = Iterable<ImportLine> | AsyncIterable<ImportLine>;

/**
 * The lines of a file that come after those that an import has dealt with, each validated as the secret key's inserts
 * are. Where the file cannot be read any further, the last batch says why.
 */
export async function* importBatches(
  lines: Lines,
  collection: Collection,
  record: ImportRecord,
): AsyncGenerator<Batch, void, void> {
  let batch = new Batch(record.line);
  try {
    for await (const line of lines) {
      if (line.line <= record.line) continue;
      if (line.line > maxLines) throw new UnreadableFile(`The file has more than ${maxLines} lines.`);
      prepare(collection, record, line, batch);
      if (!batch.isFull) continue;
      yield batch;
      batch = new Batch(batch.line);
    }
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    batch.unreadable = error.message;
  }
  yield batch;
}
