import { CsvError, parse } from 'csv-parse/browser/esm/sync';
import { type Delimiter, encodingOf, formOf } from '../../../shared/transfers/csv-format.ts';

export type FileEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export interface CsvLayout {
  readonly format: 'csv';
  readonly encoding: FileEncoding;
  readonly delimiter: Delimiter;
  /** The first line is `sep=…`. */
  readonly namesDelimiter: boolean;
}
export interface JsonLayout {
  readonly format: 'json';
  readonly encoding: FileEncoding;
}
export type Layout = CsvLayout | JsonLayout;

/** The start of a file as a table: cells of CSV are texts, those of JSON are values. */
export interface TableFile {
  readonly file: File;
  /** As detected, which is what an import of the unchanged file detects too. */
  readonly detected: Layout;
  readonly layout: Layout;
  /** Why the delimiter is a guess. */
  readonly unsure?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

const sampleBytes = 1024 * 1024;
const sampleRows = 1000;
/** The encoding is detected from at most this much of a file. */
const checkedBytes = 16 * 1024 * 1024;

const isText = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
};

/** UTF-16 without a byte order mark has a zero beside nearly every letter. */
const utf16Of = (bytes: Uint8Array): FileEncoding | undefined => {
  const start = bytes.subarray(0, 4096);
  const zeros = [0, 0];
  for (const [place, byte] of start.entries()) if (byte === 0) zeros[place % 2] = (zeros[place % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (odd > start.length / 3 && even === 0) return 'utf-16le';
  return even > start.length / 3 && odd === 0 ? 'utf-16be' : undefined;
};

/** Throws `UnreadableFile` for a workbook or an archive. */
export const detectEncoding = (bytes: Uint8Array): FileEncoding => {
  const marked = utf16Of(bytes) ?? encodingOf(bytes);
  return marked === 'utf-8' && !isText(bytes) ? 'windows-1252' : marked;
};

/** Rows from the start of a text, and the rest that does not end yet. A row that is cut off is part of the rest. */
export const csvRows = (text: string, delimiter: Delimiter, isWhole: boolean) => {
  const rows: string[][] = [];
  const ends: number[] = [];
  try {
    parse(text, {
      delimiter,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      on_record: (record: string[], { bytes }: { readonly bytes: number }) => {
        rows.push(record);
        ends.push(bytes);
        return null;
      },
    });
  } catch (error) {
    // The quote of the last row may close later.
    if (isWhole || !(error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED')) throw error;
  }
  if (isWhole) return { rows, rest: '' };
  const kept = Math.max(0, rows.length - 1);
  const bytes = new TextEncoder().encode(text).subarray(ends[kept - 1] ?? 0);
  return { rows: rows.slice(0, kept), rest: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) };
};

/** The objects of a JSON array or of NDJSON, and the rest that does not end yet. */
export const objectTexts = (text: string) => {
  const objects: string[] = [];
  let [depth, start, end] = [0, 0, 0];
  let isString = false;
  for (let place = 0; place < text.length; place += 1) {
    const letter = text[place];
    if (isString) {
      if (letter === '\\') place += 1;
      else if (letter === '"') isString = false;
    } else if (letter === '"') isString = true;
    else if (letter === '{' || letter === '[') {
      // The bracket of the whole array is not inside an object.
      if (depth > 0 || letter === '{') depth += 1;
      if (depth === 1 && letter === '{') start = place;
    } else if ((letter === '}' || letter === ']') && depth > 0) {
      depth -= 1;
      if (depth > 0) continue;
      objects.push(text.slice(start, place + 1));
      end = place + 1;
    }
  }
  return { objects, rest: text.slice(end) };
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textIn = (bytes: Uint8Array, encoding: FileEncoding): string =>
  new TextDecoder(encoding).decode(bytes, { stream: true });

const bytesOf = async (file: File, most: number): Promise<Uint8Array> =>
  new Uint8Array(await file.slice(0, most).arrayBuffer());

/** Only objects fit: the file may be CSV with a bracket in its first cell. */
const isJson = (name: string, text: string): boolean =>
  /\.(json|ndjson|jsonl)$/i.test(name) || /^\s*(?:\[\s*)?\{\s*(?:"|\})/.test(text);

const detect = async (file: File): Promise<{ readonly layout: Layout; readonly unsure?: string }> => {
  const encoding = detectEncoding(await bytesOf(file, checkedBytes));
  const text = textIn(await bytesOf(file, sampleBytes), encoding);
  if (isJson(file.name, text)) return { layout: { format: 'json', encoding } };
  const readRows = async (sample: string, delimiter: Delimiter) =>
    csvRows(sample, delimiter, file.size <= sampleBytes).rows;
  try {
    const { delimiter, namesDelimiter } = await formOf('utf-8', text, async (sample, delimiter) => {
      try {
        return await readRows(sample, delimiter);
      } catch {
        return [];
      }
    });
    return { layout: { format: 'csv', encoding, delimiter, namesDelimiter } };
  } catch (error) {
    const delimiter = /[;\t|]/.exec(text.split(/[\r\n]/, 1)[0] ?? '')?.[0] ?? ',';
    const layout = { format: 'csv', encoding, delimiter: delimiter as Delimiter, namesDelimiter: false } as const;
    return { layout, unsure: (error as Error).message };
  }
};

const tableOf = (text: string, layout: Layout, isWhole: boolean): Pick<TableFile, 'columns' | 'rows'> => {
  if (layout.format === 'csv') {
    const { rows } = csvRows(text, layout.delimiter, isWhole);
    const named = layout.namesDelimiter ? rows.slice(1) : rows;
    const first = named.findIndex((row) => row.some((cell) => cell.trim() !== ''));
    return { columns: (named[first] ?? []).map((name) => name.trim()), rows: named.slice(first + 1, sampleRows) };
  }
  const objects = objectTexts(text)
    .objects.slice(0, sampleRows)
    .map((one): unknown => JSON.parse(one));
  const documents = objects.filter(isObject);
  const columns = [...new Set(documents.flatMap((document) => Object.keys(document)))];
  return {
    columns,
    rows: documents.map((document) =>
      columns.map((name) => (Object.hasOwn(document, name) ? document[name] : undefined)),
    ),
  };
};

/** Reads the start of a CSV or JSON file, as detected or as chosen. Throws an error for the user. */
export const readTable = async (file: File, chosen: Partial<CsvLayout> = {}): Promise<TableFile> => {
  const { layout: detected, unsure } = await detect(file);
  const layout = { ...detected, ...chosen, format: detected.format } as Layout;
  const text = textIn(await bytesOf(file, sampleBytes), layout.encoding);
  const table = tableOf(text, layout, file.size <= sampleBytes);
  return { file, detected, layout, ...(unsure === undefined ? {} : { unsure }), ...table };
};
