import { CsvError, parse } from 'csv-parse';
import type { Collection } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import { bodyOf, type Column, columnsOf } from './csv-columns.ts';
import { type ImportLine, type Pieces, type Place, UnreadableFile } from './import-lines.ts';

interface Row {
  readonly record: readonly string[];
  /** Bytes of the file up to here, the end of the row's line included. */
  readonly bytes: number;
}

/** More than any document has room for. */
const maxRowBytes = 5 * 1024 * 1024;
const bytesAtOnce = 64 * 1024;

const options = {
  relax_column_count: true,
  skip_empty_lines: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  max_record_size: maxRowBytes,
};

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/** Tells the line on which each row ends, in order; the parser counts some ends of lines inside quotes twice. */
class LineCounter {
  readonly #pieces: Uint8Array[] = [];
  #position = 0;
  #within = 0;
  #line: number;
  #last: number | undefined;

  constructor(line: number) {
    this.#line = line;
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

const toLine = (columns: readonly Column[], place: Place, cells: readonly string[]): ImportLine => {
  if (cells.length !== columns.length) {
    return { ...place, problem: `The row has ${cells.length} values; the first line names ${columns.length} columns.` };
  }
  try {
    return { ...place, body: bodyOf(columns, cells) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...place, problem: error.message };
  }
};

/** Small pieces, each valid UTF-8 together with those before it; `onPiece` sees each first. */
async function* checked(pieces: Pieces, onPiece: (piece: Uint8Array) => void): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (piece: Uint8Array, stream: boolean): void => {
    try {
      decoder.decode(piece, { stream });
    } catch {
      throw new UnreadableFile(
        'The file is not valid UTF-8. Save it as such (in Excel “CSV UTF-8”) and import it again.',
      );
    }
  };
  for await (const piece of pieces) {
    decode(piece, true);
    for (let at = 0; at < piece.length; at += bytesAtOnce) {
      const part = piece.subarray(at, at + bytesAtOnce);
      onPiece(part);
      yield part;
    }
  }
  decode(new Uint8Array(), false);
}

/**
 * The rows of a file, from its start or from where a line begins; `onPiece` sees what they are made of. What the parser
 * cannot read is thrown behind the rows before it, which a stream would lose.
 */
async function* rowsOf(pieces: Pieces, isStart: boolean, onPiece: (piece: Uint8Array) => void): AsyncGenerator<Row> {
  const rows: Row[] = [];
  const onRecord = (record: readonly string[], { bytes }: { readonly bytes: number }): null => {
    rows.push({ record, bytes });
    return null;
  };
  const parser = parse({ ...options, bom: isStart, on_record: onRecord });
  let failure: unknown;
  parser.on('error', (error) => {
    failure = error;
  });
  for await (const piece of checked(pieces, onPiece)) {
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
    'The file is not valid CSV: a quote is missing or out of place, or a row is too long. What stands before it is imported.',
  );
};

/** The columns that the first line of a file names; `undefined` of an empty one. */
const readColumns = async (open: (from: number) => Pieces, collection: Collection) => {
  for await (const { record } of rowsOf(open(0), true, () => undefined)) return columnsOf(collection, record);
  return undefined;
};

/**
 * The documents of a CSV file (RFC 4180) from a place on, by the collection's schema; the first line names the columns.
 * `open` reads the file from a byte on. A row's line is that on which it ends. Where the file cannot be read any
 * further → `UnreadableFile`.
 */
export async function* csvLines(
  open: (from: number) => Pieces,
  from: Place,
  collection: Collection,
): AsyncGenerator<ImportLine> {
  const lines = new LineCounter(from.line);
  const isStart = from.bytes === 0;
  try {
    let columns = isStart ? undefined : await readColumns(open, collection);
    for await (const { record, bytes } of rowsOf(open(from.bytes), isStart, (piece) => lines.push(piece))) {
      const place = { line: lines.endingAt(bytes), bytes: from.bytes + bytes };
      if (columns) yield toLine(columns, place, record);
      else columns = columnsOf(collection, record);
    }
  } catch (error) {
    orUnreadable(error);
  }
}
