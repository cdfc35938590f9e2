import type { ObjectId } from 'mongodb';
import { AppError, isClientError, statusOf, validationFailed } from '../core/errors.ts';
import { parseJsonValue } from '../core/json.ts';
import { idOf } from '../core/values.ts';
import type { AccessContext } from '../documents/access/access.ts';
import type { JsonObject } from '../documents/document.ts';
import { madeOf } from '../documents/store/new-document.ts';
import { isJsonObject } from '../documents/values.ts';
import { UnreadableFile } from './csv-format.ts';
import { importedId, lineErrors, maxLines, type Prepared } from './import-batch.ts';
import type { ImportRecord, LineError } from './transfer.ts';

export interface Place {
  readonly line: number;
  readonly bytes: number;
}

/** A document, or what is wrong with the line; the position is its end. */
export type ImportLine = Place & ({ readonly body: JsonObject } | { readonly problem: string });

export type Pieces = AsyncIterable<Uint8Array>;

const newline = 0x0a;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** More than any document needs, and small enough for memory. */
const maxLineBytes = 16 * 1024 * 1024;

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

/** A line without its end yet. Nothing is kept of one that is too long. */
class OpenLine {
  #pieces: Uint8Array[] = [];
  bytes = 0;

  add(piece: Uint8Array): void {
    this.bytes += piece.length;
    if (this.bytes <= maxLineBytes) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  /** Ends the line; `undefined` if it is empty. */
  end(place: Place): ImportLine | undefined {
    const [pieces, bytes] = [this.#pieces, this.bytes];
    [this.#pieces, this.bytes] = [[], 0];
    if (bytes > maxLineBytes) return { ...place, problem: 'The line is longer than any document may be.' };
    return parseLine(place, pieces.length === 1 ? (pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(pieces));
  }
}

/** Reads NDJSON from a position. Lines count from 1; empty lines are skipped. */
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

/** Scans a JSON array for the ends of its elements. */
class ArrayScan {
  readonly #open = new OpenLine();
  #depth = 0;
  #isString = false;
  #isEscaped = false;
  isClosed = false;

  /** True if an element ends before this byte. */
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

  /** `at`: offset of the piece; `line`: number of elements before it. */
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

/** Reads the elements of a JSON array after the bracket or a comma; "lines" are elements, from 1. */
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
      'The JSON array is not closed, or a quote in it is missing. The lines before it are imported.',
    );
  }
}

/** Bytes up to and including an opening bracket, if the file begins with one. */
const bracketEnd = async (pieces: Pieces): Promise<number | undefined> => {
  for await (const piece of pieces) {
    const [, before] = /^((?:\xef\xbb\xbf)?\s*)\[/.exec(Buffer.from(piece).toString('latin1', 0, 1024)) ?? [];
    return before === undefined ? undefined : before.length + 1;
  }
  return undefined;
};

/** Reads a JSON array or NDJSON from a position. */
export async function* jsonLines(open: (from: number) => Pieces, from: Place): AsyncGenerator<ImportLine> {
  const start = await bracketEnd(open(0));
  if (start === undefined) yield* ndjsonLines(open(from.bytes), from);
  else {
    const place = from.bytes === 0 ? { line: 0, bytes: start } : from;
    yield* elementLines(open(place.bytes), place);
  }
}

const maxDocuments = 100;
const maxBytes = 4 * 1024 * 1024;

/** Failures listed in the report; more are only counted. */
export const maxErrors = 100;

export class Batch {
  readonly prepared: Prepared[] = [];
  readonly errors: LineError[] = [];
  line: number;
  bytes: number;
  rejected = 0;
  skipped = 0;
  isLast = false;
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

  /** Duplicates within a batch are rejected, because the winner would be random. */
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

const prepare = async (
  { project, collection }: Target,
  record: ImportRecord,
  line: ImportLine,
): Promise<Prepared | readonly LineError[]> => {
  if ('problem' in line) return [{ line: line.line, field: '', message: line.problem }];
  try {
    const { _id, isOwn } = idFor(record, line.line, line.body);
    const context: AccessContext = { project, collection, caller: { kind: 'secret' }, runsOnlySets: true };
    const { document, size } = await madeOf(context, line.body, _id);
    return { line: line.line, size, isOwn, document: { ...document, _id } };
  } catch (error) {
    // A database that is busy or down says nothing about the line.
    if (!isClientError(error) || statusOf[error.code] === 429) throw error;
    return lineErrors(line.line, error);
  }
};

type Lines = AsyncIterable<ImportLine>;

type Target = Pick<AccessContext, 'project' | 'collection'>;

/**
 * Validates lines after a position like inserts with the secret key. The last batch contains the reason if the file is
 * unreadable.
 */
export async function* importBatches(
  lines: Lines,
  target: Target,
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
      let prepared = await prepare(target, record, line);
      if ('document' in prepared && batch.has(prepared.document._id)) {
        yield batch;
        batch = new Batch(batch);
        // Documents must be dated after the saved progress.
        prepared = await prepare(target, record, line);
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
