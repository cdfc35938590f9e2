import { CsvError, parse } from 'csv-parse';
import type { Collection } from '../collections/collection.ts';
import { AppError } from '../core/errors.ts';
import {
  bodyOf,
  type Columns,
  type CsvForm,
  columnsOf,
  type Delimiter,
  encodingOf,
  formOf,
  sourceBytes,
  UnreadableFile,
} from './csv-format.ts';
import type { ImportLine, Pieces, Place } from './import-lines.ts';

interface Row {
  readonly record: readonly string[];
  readonly bytes: number;
}

const maxRowBytes = 5 * 1024 * 1024;
const bytesAtOnce = 64 * 1024;
const sampleBytes = 64 * 1024;

const options = {
  relax_column_count: true,
  skip_empty_lines: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  max_record_size: maxRowBytes,
};

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/**
 * Tracks the line and byte at which each row ends. The parser counts some line ends in quotes twice, and only counts
 * UTF-8 bytes.
 */
class LineCounter {
  readonly #encoding: CsvForm['encoding'];
  readonly #pieces: Uint8Array[] = [];
  #position = 0;
  #within = 0;
  #line: number;
  #last: number | undefined;
  bytes: number;

  constructor({ line, bytes }: Place, encoding: CsvForm['encoding']) {
    this.#line = line;
    this.bytes = bytes;
    this.#encoding = encoding;
  }

  push(piece: Uint8Array): void {
    this.#pieces.push(piece);
  }

  endingAt(position: number): number {
    while (this.#position < position) {
      const piece = this.#pieces[0];
      if (!piece) break;
      const until = Math.min(piece.length, this.#within + position - this.#position);
      for (let at = this.#within; at < until; at += 1) {
        const byte = piece[at];
        if (byte === carriageReturn || (byte === lineFeed && this.#last !== carriageReturn)) this.#line += 1;
        this.#last = byte;
        this.bytes += sourceBytes(this.#encoding, byte as number);
      }
      this.#position += until - this.#within;
      this.#within = until;
      if (until === piece.length) {
        this.#pieces.shift();
        this.#within = 0;
      }
    }
    return this.#last === lineFeed || this.#last === carriageReturn ? this.#line : this.#line + 1;
  }
}

const isEmpty = (cells: readonly string[]): boolean => cells.every((cell) => cell === '');

const widthProblem = (columns: Columns, cells: readonly string[]): string | undefined => {
  const used = cells.findLastIndex((cell) => cell !== '') + 1;
  if (cells.length < columns.length || used > columns.length) {
    const values = used > columns.length ? used : cells.length;
    return `The row has ${values} values; the first line names ${columns.length} columns.`;
  }
  const nameless = columns.findIndex((column, index) => column === undefined && cells[index] !== '');
  return nameless < 0
    ? undefined
    : `The row has a value in column ${nameless + 1}, which the first line does not name.`;
};

const toLine = (columns: Columns, place: Place, cells: readonly string[]): ImportLine => {
  const problem = widthProblem(columns, cells);
  if (problem !== undefined) return { ...place, problem };
  try {
    return { ...place, body: bodyOf(columns, cells) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...place, problem: error.message };
  }
};

/** Decodes to UTF-8 in small pieces; `onPiece` sees each first. */
async function* checked(
  pieces: Pieces,
  encoding: CsvForm['encoding'],
  onPiece: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const inUtf8 = (piece: Uint8Array, stream: boolean): Uint8Array => {
    try {
      const text = decoder.decode(piece, { stream });
      return encoding === 'utf-8' ? piece : Buffer.from(text);
    } catch {
      throw new UnreadableFile(
        `The file is not valid ${encoding === 'utf-8' ? 'UTF-8' : 'UTF-16'}. Save it as UTF-8 (in Excel “CSV UTF-8”) and import it again.`,
      );
    }
  };
  for await (const piece of pieces) {
    const text = inUtf8(piece, true);
    for (let at = 0; at < text.length; at += bytesAtOnce) {
      const part = text.subarray(at, at + bytesAtOnce);
      onPiece(part);
      yield part;
    }
  }
  inUtf8(new Uint8Array(), false);
}

interface Reading extends Pick<CsvForm, 'encoding' | 'delimiter'> {
  readonly isStart: boolean;
  readonly onPiece?: (piece: Uint8Array) => void;
}

/**
 * Rows from the start of a file or of a line. A parser error is thrown after the rows before it, which a stream would
 * drop.
 */
async function* rowsOf(pieces: Pieces, reading: Reading): AsyncGenerator<Row> {
  const { encoding, delimiter, isStart, onPiece = () => undefined } = reading;
  const rows: Row[] = [];
  const onRecord = (record: readonly string[], { bytes }: { readonly bytes: number }): null => {
    rows.push({ record, bytes });
    return null;
  };
  const parser = parse({ ...options, delimiter, bom: isStart, on_record: onRecord });
  let failure: unknown;
  parser.on('error', (error) => {
    failure = error;
  });
  for await (const piece of checked(pieces, encoding, onPiece)) {
    await new Promise((resolve) => parser.write(piece, resolve));
    yield* rows.splice(0);
    if (failure !== undefined) throw failure;
  }
  await new Promise<void>((resolve) => parser.end(resolve));
  yield* rows.splice(0);
  if (failure !== undefined) throw failure;
}

const orUnreadable = (error: unknown): never => {
  if (!(error instanceof CsvError)) throw error;
  throw new UnreadableFile(
    'The file is not valid CSV: a quote is missing or out of place, or a row is too long. The lines before it are imported.',
  );
};

type Open = (from: number) => Pieces;

const startOf = async (open: Open): Promise<Uint8Array> => {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const piece of open(0)) {
    parts.push(piece);
    length += piece.length;
    if (length >= sampleBytes) break;
  }
  return Buffer.concat(parts);
};

const sampleRows = async (text: string, delimiter: Delimiter, isWhole: boolean) => {
  const bytes = Buffer.from(text);
  const pieces = (async function* () {
    yield bytes;
  })();
  const rows: (readonly string[])[] = [];
  try {
    for await (const { record } of rowsOf(pieces, { encoding: 'utf-8', delimiter, isStart: true })) rows.push(record);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (isWhole) return [];
    return rows;
  }
  return isWhole ? rows : rows.slice(0, -1);
};

const readForm = async (open: Open): Promise<CsvForm> => {
  const start = await startOf(open);
  const encoding = encodingOf(start);
  const isWhole = start.length < sampleBytes;
  const text = new TextDecoder(encoding).decode(start.subarray(0, sampleBytes), { stream: true });
  return formOf(encoding, text, (sample, delimiter) => sampleRows(sample, delimiter, isWhole));
};

/** The header is the first line that is not empty and not `sep=…`. */
class Header {
  readonly #collection: Collection;
  readonly #form: CsvForm;
  #skips: boolean;
  columns: Columns | undefined;

  constructor(collection: Collection, form: CsvForm) {
    this.#collection = collection;
    this.#form = form;
    this.#skips = form.namesDelimiter;
  }

  read(record: readonly string[]): void {
    if (this.#skips) this.#skips = false;
    else if (record.some((name) => name.trim() !== '')) {
      this.columns = columnsOf(this.#collection, record, this.#form.delimiter);
    }
  }
}

/**
 * Reads CSV (RFC 4180) from a position. Encoding and delimiter are detected from the file's start. A row's number is
 * the line on which it ends; empty rows are skipped. `open` reads the file from a byte. Throws `UnreadableFile`.
 */
export async function* csvLines(open: Open, from: Place, collection: Collection): AsyncGenerator<ImportLine> {
  try {
    const form = await readForm(open);
    const header = new Header(collection, form);
    const isStart = from.bytes === 0;
    for await (const { record } of isStart ? [] : rowsOf(open(0), { ...form, isStart: true })) {
      header.read(record);
      if (header.columns) break;
    }
    const lines = new LineCounter(from, form.encoding);
    const onPiece = (piece: Uint8Array) => lines.push(piece);
    for await (const { record, bytes } of rowsOf(open(from.bytes), { ...form, isStart, onPiece })) {
      const line = lines.endingAt(bytes);
      if (!header.columns) header.read(record);
      else if (!isEmpty(record)) yield toLine(header.columns, { line, bytes: lines.bytes }, record);
    }
  } catch (error) {
    orUnreadable(error);
  }
}
