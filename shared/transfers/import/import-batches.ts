import type { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import { validationFailed } from '../../core/errors.ts';
import { idOf } from '../../core/id-of.ts';
import type { JsonObject } from '../../documents/document.ts';
import { newDocument } from '../../documents/write/new-document.ts';
import type { ImportRecord, LineError } from '../transfer-record.ts';
import { importedId, lineErrors, maxLines, type Prepared } from './import-batch.ts';
import { type ImportLine, type Place, UnreadableFile } from './import-lines.ts';

/** A batch is stored when it has so many documents, or so many bytes of them. */
const maxDocuments = 100;
const maxBytes = 4 * 1024 * 1024;

/** The report names so many failures; the others are only counted. */
export const maxErrors = 100;

/** Lines of a file that are stored, and written down, together. */
export class Batch {
  readonly prepared: Prepared[] = [];
  readonly errors: LineError[] = [];
  /** The last of them, and the bytes of the file up to its end. */
  line: number;
  bytes: number;
  rejected = 0;
  skipped = 0;
  /** Nothing comes after it. */
  isLast = false;
  /** Why the file cannot be read beyond it. */
  unreadable: string | undefined;
  readonly #ids = new Set<string>();
  #size = 0;

  constructor({ line, bytes }: Place) {
    this.line = line;
    this.bytes = bytes;
  }

  get isFull(): boolean {
    return this.prepared.length >= maxDocuments || this.#size >= maxBytes || this.errors.length >= maxErrors;
  }

  /** Whether a line of it has this id: which of them is stored would be chance. */
  has(id: ObjectId): boolean {
    return this.#ids.has(id.toHexString());
  }

  add(document: Prepared): void {
    this.prepared.push(document);
    this.#ids.add(document.document._id.toHexString());
    this.#size += document.size;
  }

  reject(errors: readonly LineError[]): void {
    this.rejected += 1;
    this.errors.push(...errors);
  }
}

const badId = () => validationFailed({ field: '_id', message: '_id must be 24 hexadecimal characters' });

/** The id of a line's document: its own where that is kept, else one of the import's. */
const idFor = (
  record: ImportRecord,
  line: number,
  { _id }: JsonObject,
): Pick<Prepared, 'isOwn'> & { _id: ObjectId } => {
  if (!record.keepIds || _id === undefined) return { _id: importedId(record, line), isOwn: false };
  const id = idOf(_id);
  if (!id) throw badId();
  return { _id: id, isOwn: true };
};

/** A line as it is to be stored, or what is wrong with it. */
const prepare = (collection: Collection, record: ImportRecord, line: ImportLine): Prepared | readonly LineError[] => {
  if ('problem' in line) return [{ line: line.line, field: '', message: line.problem }];
  try {
    const { _id, isOwn } = idFor(record, line.line, line.body);
    const { document, size } = newDocument(collection, { kind: 'secret' }, line.body, clock.now());
    return { line: line.line, size, isOwn, document: { ...document, _id } };
  } catch (error) {
    return lineErrors(line.line, error);
  }
};

type Lines = AsyncIterable<ImportLine>;

/**
 * The lines of a file that come after those that an import has dealt with, each validated as the secret key's inserts
 * are. Where the file cannot be read any further, the last batch says why.
 */
export async function* importBatches(
  lines: Lines,
  collection: Collection,
  record: ImportRecord,
): AsyncGenerator<Batch, void, void> {
  let batch = new Batch({ line: record.line, bytes: record.bytes ?? 0 });
  try {
    for await (const line of lines) {
      if (line.line <= record.line) continue;
      if (line.line > maxLines) throw new UnreadableFile(`The file has more than ${maxLines} lines.`);
      if (batch.isFull) {
        yield batch;
        batch = new Batch(batch);
      }
      let prepared = prepare(collection, record, line);
      if ('document' in prepared && batch.has(prepared.document._id)) {
        yield batch;
        batch = new Batch(batch);
        // Whatever is stored is dated after what was written down before it.
        prepared = prepare(collection, record, line);
      }
      [batch.line, batch.bytes] = [line.line, line.bytes];
      if ('document' in prepared) batch.add(prepared);
      else batch.reject(prepared);
    }
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    batch.unreadable = error.message;
  }
  batch.isLast = true;
  yield batch;
}
