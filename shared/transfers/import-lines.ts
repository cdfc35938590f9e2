import type { ObjectId } from 'mongodb';
import type { Collection } from '../collections/collection.ts';
import { clock } from '../core/clock.ts';
import { AppError, validationFailed } from '../core/errors.ts';
import { parseJsonValue } from '../core/json.ts';
import { idOf } from '../core/view.ts';
import type { JsonObject } from '../documents/document.ts';
import { newDocument } from '../documents/store/insert.ts';
import { isJsonObject } from '../documents/values.ts';
import { importedId, lineErrors, maxLines, type Prepared } from './import-batch.ts';
import type { ImportRecord, LineError } from './transfer.ts';

/** A place in a file: so many lines, and so many bytes, come before it. */
export interface Place {
  readonly line: number;
  readonly bytes: number;
}

/**
 * One line of a file that is imported, and the bytes up to its end: a document as it would be sent, or what is wrong
 * with the line as a whole.
 */
export type ImportLine = Place & ({ readonly body: JsonObject } | { readonly problem: string });

/** A file in pieces, from some place on. */
export type Pieces = AsyncIterable<Uint8Array>;

/** A file that cannot be read any further, and why, for people. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

const newline = 0x0a;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** More than the JSON of any document takes, and little enough to be held. */
const maxLineBytes = 16 * 1024 * 1024;

/** What to say besides of a line of a JSON list, which is no NDJSON: its brackets, or an element and its comma. */
const hintFor = (line: string): string =>
  /^\[|^\]$|,$/.test(line) ? ' NDJSON has one object a line, without the brackets and commas of a list.' : '';

const parseLine = (place: Place, bytes: Uint8Array): ImportLine | undefined => {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { ...place, problem: 'The line is not valid UTF-8.' };
  }
  const line = text.trim();
  if (line === '') return undefined;
  try {
    const body = parseJsonValue(text);
    if (isJsonObject(body)) return { ...place, body };
    return { ...place, problem: `The line must be a JSON object.${hintFor(line)}` };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code !== 'INVALID_JSON') return { ...place, problem: error.message };
    return { ...place, problem: `The line is not valid JSON.${hintFor(line)}` };
  }
};

/** What has come of a line whose end has not; of one that is too long nothing is held. */
class OpenLine {
  #pieces: Uint8Array[] = [];
  bytes = 0;

  add(piece: Uint8Array): void {
    this.bytes += piece.length;
    if (this.bytes <= maxLineBytes) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  /** The line that ends at a place, and begins the next one; `undefined` where it is empty. */
  end(place: Place): ImportLine | undefined {
    const [pieces, bytes] = [this.#pieces, this.bytes];
    [this.#pieces, this.bytes] = [[], 0];
    if (bytes > maxLineBytes) return { ...place, problem: 'The line is longer than any document may be.' };
    return parseLine(place, pieces.length === 1 ? (pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(pieces));
  }
}

/** The documents of an NDJSON file from a place on, one a line; empty lines are none. Lines count from 1. */
export async function* ndjsonLines(pieces: Pieces, from: Place): AsyncGenerator<ImportLine> {
  const open = new OpenLine();
  let { line, bytes } = from;
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, start)) {
      open.add(piece.subarray(start, end));
      bytes += end + 1 - start;
      start = end + 1;
      line += 1;
      const parsed = open.end({ line, bytes });
      if (parsed) yield parsed;
    }
    open.add(piece.subarray(start));
    bytes += piece.length - start;
  }
  if (open.bytes === 0) return;
  const last = open.end({ line: line + 1, bytes });
  if (last) yield last;
}

/** What an array's text is at: the element that is open, the depth inside it, and whether in a string of it. */
class ArrayScan {
  readonly #open = new OpenLine();
  #depth = 0;
  #isString = false;
  #isEscaped = false;
  isClosed = false;

  /** Passes one byte over; whether an element ends before it. */
  #ends(byte: number): boolean {
    if (this.#isString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === 0x5c) this.#isEscaped = true;
      else if (byte === 0x22) this.#isString = false;
      return false;
    }
    if (byte === 0x22) this.#isString = true;
    else if (byte === 0x7b || byte === 0x5b) this.#depth += 1;
    else if (this.#depth > 0) this.#depth -= byte === 0x7d || byte === 0x5d ? 1 : 0;
    else if (byte === 0x5d) this.isClosed = true;
    else return byte === 0x2c;
    return this.isClosed;
  }

  /** The elements that end in a piece; `at` is where it begins in the file, `line` how many came before. */
  *read(piece: Uint8Array, at: number, line: number): Generator<Place & { readonly parsed: ImportLine | undefined }> {
    let [start, count] = [0, line];
    for (let index = 0; index < piece.length; index += 1) {
      const byte = piece[index] as number;
      if (this.isClosed) {
        if (byte > 0x20) throw new UnreadableFile('More text follows the end of the JSON array.');
      } else if (this.#ends(byte)) {
        this.#open.add(piece.subarray(start, index));
        start = index + 1;
        count += 1;
        const place = { line: count, bytes: at + (this.isClosed ? index : start) };
        yield { ...place, parsed: this.#open.end(place) };
      }
    }
    if (!this.isClosed) this.#open.add(piece.subarray(start));
  }
}

/** The elements of a JSON array behind its bracket, or behind a comma. A "line" is the number of an element, from 1. */
async function* elementLines(pieces: Pieces, from: Place): AsyncGenerator<ImportLine> {
  const scan = new ArrayScan();
  let { line, bytes } = from;
  for await (const piece of pieces) {
    for (const { parsed, line: count } of scan.read(piece, bytes, line)) {
      line = count;
      if (parsed) yield parsed;
    }
    bytes += piece.length;
  }
  if (!scan.isClosed) {
    throw new UnreadableFile(
      'The JSON array is not closed, or a quote in it is missing. What stands before is imported.',
    );
  }
}

/** Bytes up to behind the bracket that a file begins with, if it does. */
const bracketEnd = async (pieces: Pieces): Promise<number | undefined> => {
  for await (const piece of pieces) {
    const [, before] = /^((?:\xef\xbb\xbf)?\s*)\[/.exec(Buffer.from(piece).toString('latin1', 0, 1024)) ?? [];
    return before === undefined ? undefined : before.length + 1;
  }
  return undefined;
};

/** The documents of a file from a place on: the elements of a JSON array where it begins as one, else lines of NDJSON. */
export async function* jsonLines(open: (from: number) => Pieces, from: Place): AsyncGenerator<ImportLine> {
  const start = await bracketEnd(open(0));
  if (start === undefined) yield* ndjsonLines(open(from.bytes), from);
  else {
    const place = from.bytes === 0 ? { line: 0, bytes: start } : from;
    yield* elementLines(open(place.bytes), place);
  }
}

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
