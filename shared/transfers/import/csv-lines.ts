import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { Collection } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import { bodyOf, type Column, columnsOf } from './csv-columns.ts';
import { type ImportLine, UnreadableFile } from './import-lines.ts';

interface Row {
  readonly record: readonly string[];
  /** Bytes of the file up to here, the end of the row's line included. */
  readonly info: { readonly bytes: number };
}

/** More than any document has room for. */
const maxRowBytes = 5 * 1024 * 1024;
const bytesAtOnce = 64 * 1024;

const options = {
  info: true,
  relax_column_count: true,
  skip_empty_lines: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  max_record_size: maxRowBytes,
};

const pieces = function* (bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += bytesAtOnce) yield bytes.subarray(at, at + bytesAtOnce);
};

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/** Tells the line on which each row ends, in order; the parser counts some ends of lines inside quotes twice. */
class LineCounter {
  readonly #bytes: Uint8Array;
  #ends = 0;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  endingAt(position: number): number {
    const bytes = this.#bytes;
    for (; this.#at < position; this.#at += 1) {
      const byte = bytes[this.#at];
      if (byte === lineFeed || (byte === carriageReturn && bytes[this.#at + 1] !== lineFeed)) this.#ends += 1;
    }
    const last = bytes[position - 1];
    return last === lineFeed || last === carriageReturn ? this.#ends : this.#ends + 1;
  }
}

const toLine = (columns: readonly Column[], line: number, cells: readonly string[]): ImportLine => {
  if (cells.length !== columns.length) {
    return { line, problem: `The row has ${cells.length} values; the first line names ${columns.length} columns.` };
  }
  try {
    return { line, body: bodyOf(columns, cells) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { line, problem: error.message };
  }
};

const requireUtf8 = (bytes: Uint8Array): void => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableFile('The file is not valid UTF-8.');
  }
};

const withoutMark = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;

/**
 * The documents of a CSV file (RFC 4180) by the collection's schema; the first line names the columns. A row's line is
 * that on which it ends. Where the file cannot be read any further → `UnreadableFile`.
 */
export async function* csvLines(file: Uint8Array, collection: Collection): AsyncGenerator<ImportLine> {
  requireUtf8(file);
  const bytes = withoutMark(file);
  const lines = new LineCounter(bytes);
  let columns: readonly Column[] | undefined;
  try {
    for await (const { record, info } of Readable.from(pieces(bytes)).pipe(parse(options)) as AsyncIterable<Row>) {
      const line = lines.endingAt(info.bytes);
      if (columns) yield toLine(columns, line, record);
      else columns = columnsOf(collection, record);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new UnreadableFile(
      'The file is not valid CSV: a quote is missing or out of place, or a row is too long. What stands before it is imported.',
    );
  }
}
