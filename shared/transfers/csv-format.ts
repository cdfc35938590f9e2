import type { Collection } from '../collections/collection.ts';
import { typeAt } from '../collections/schema/field-path.ts';
import { type FieldType, isScalar, scalarRules } from '../collections/schema/field-types.ts';
import { AppError } from '../core/errors.ts';
import { exactNumbers, forbiddenKeys, maxDepth, parseJsonValue } from '../core/json.ts';
import { cutText } from '../core/text.ts';
import type { JsonObject } from '../documents/document.ts';
import { unguarded } from './csv-rows.ts';

/** The message is for users. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

const delimiters = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' } as const;
export type Delimiter = keyof typeof delimiters;

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

export interface CsvForm {
  readonly encoding: Encoding;
  readonly delimiter: Delimiter;
  /** The first line is `sep=…`, a spreadsheet convention. */
  readonly namesDelimiter: boolean;
}

/** Returns the first rows with a delimiter; none if the text is not CSV then. */
type ReadRows = (text: string, delimiter: Delimiter) => Promise<readonly (readonly string[])[]>;

const isDelimiter = (text: string): text is Delimiter => Object.hasOwn(delimiters, text);

const beginsWith = (bytes: Uint8Array, ...start: readonly number[]): boolean =>
  start.every((byte, index) => bytes[index] === byte);

const isBinary = (bytes: Uint8Array): boolean =>
  beginsWith(bytes, 0x50, 0x4b, 0x03, 0x04) ||
  beginsWith(bytes, 0xd0, 0xcf, 0x11, 0xe0) ||
  beginsWith(bytes, 0x1f, 0x8b);

/** Detects the encoding. Throws `UnreadableFile` for a workbook, an archive, or UTF-16 without a byte order mark. */
export const encodingOf = (start: Uint8Array): Encoding => {
  if (isBinary(start)) {
    throw new UnreadableFile(
      'The file is a workbook or an archive. Save its table as CSV (in Excel “CSV UTF-8”) and import that file.',
    );
  }
  if (beginsWith(start, 0xff, 0xfe)) return 'utf-16le';
  if (beginsWith(start, 0xfe, 0xff)) return 'utf-16be';
  if (start.subarray(0, 4096).includes(0)) {
    throw new UnreadableFile(
      'The file is not text in UTF-8: it contains zero bytes. Save it as UTF-8 (in Excel “CSV UTF-8”) and import it again.',
    );
  }
  return 'utf-8';
};

/** Delimiters outside quotes in the first line that has a cell boundary. */
const delimitersIn = (text: string): readonly Delimiter[] => {
  const found = new Set<Delimiter>();
  let isQuoted = false;
  let isEmpty = true;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    if (!isQuoted && (character === '\n' || character === '\r')) {
      if (!isEmpty) break;
      found.clear();
    } else if (!isQuoted && isDelimiter(character)) found.add(character);
    else if (character.trim() !== '' && character !== '\ufeff') isEmpty = false;
  }
  return [...found];
};

const usedLength = (row: readonly string[]): number => row.findLastIndex((cell) => cell.trim() !== '') + 1;

const areOfOneWidth = (rows: readonly (readonly string[])[]): boolean => {
  const [first = [], ...rest] = rows.filter((row) => usedLength(row) > 0);
  return rest.length > 0 && rest.every((row) => row.length >= usedLength(first) && usedLength(row) <= first.length);
};

/**
 * Detects the delimiter from the start of a file. If several are possible, exactly one must fit the following rows;
 * otherwise throws `UnreadableFile`.
 */
export const formOf = async (encoding: Encoding, text: string, readRows: ReadRows): Promise<CsvForm> => {
  const [, named] = /^\ufeff?"?sep=([^"\r\n])"?[\r\n]/i.exec(text) ?? [];
  if (named !== undefined) {
    if (isDelimiter(named)) return { encoding, delimiter: named, namesDelimiter: true };
    throw new UnreadableFile('The line sep= must name a comma, a semicolon, a tab or a bar.');
  }
  const candidates = delimitersIn(text);
  const [delimiter = ',', ...others] = candidates;
  if (others.length === 0) return { encoding, delimiter, namesDelimiter: false };
  const fitting: Delimiter[] = [];
  for (const each of candidates) if (areOfOneWidth(await readRows(text, each))) fitting.push(each);
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return { encoding, delimiter: only, namesDelimiter: false };
  throw new UnreadableFile(
    `The first line contains ${candidates.map((each) => delimiters[each]).join(' and ')}, so it is not clear what separates the columns. Put names that contain one of them in quotes, or begin the file with a line such as sep=;`,
  );
};

export const sourceBytes = (encoding: Encoding, byte: number): number => {
  if (encoding === 'utf-8') return 1;
  if ((byte & 0xc0) === 0x80) return 0;
  return byte >= 0xf0 ? 4 : 2;
};

interface Column {
  readonly path: readonly string[];
  readonly read: Reader;
}

/** Unnamed columns are `undefined` and must be empty. */
export type Columns = readonly (Column | undefined)[];

/** `level`: depth of the cell in its document, from 1. */
type Reader = (cell: string, level: number) => unknown;

const readJson: Reader = (cell, level) => {
  try {
    return parseJsonValue(cell, level);
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_JSON') return cell;
    throw error;
  }
};

/** Thousands groups that could also be three decimals. */
const ambiguous: Readonly<Partial<Record<Delimiter, RegExp>>> = {
  ';': /^[+-]?[1-9]\d{0,2}(\.\d{3})+$/,
  '\t': /^[+-]?[1-9]\d{0,2}(,\d{3})+$/,
  '|': /^[+-]?[1-9]\d{0,2}(,\d{3})+$/,
};

/** Accepts a decimal comma unless commas separate columns. Throws 400 for ambiguous numbers. */
export const plainNumber = (name: string, cell: string, delimiter: Delimiter): string => {
  const text = cell.trim();
  if (delimiter === ',') return text;
  if (ambiguous[delimiter]?.test(text)) {
    throw new AppError(
      'VALIDATION_FAILED',
      `${name}: ${cutText(text, 100)} is ambiguous: the separator could mean thousands or decimals. Remove the thousands separator.`,
    );
  }
  const digits = /^[+-]?[1-9]\d{0,2}(\.\d{3})+,\d+$/.test(text) ? text.replaceAll('.', '') : text;
  return /^[+-]?\d*,\d+(e[+-]?\d+)?$/i.test(digits) ? digits.replace(',', '.') : text;
};

/** Invalid values stay text; validation rejects them. */
const readerOf = (name: string, type: FieldType | undefined, delimiter: Delimiter): Reader => {
  if (type === undefined) return (cell) => cell;
  if (!isScalar(type)) return readJson;
  const { fromCell } = scalarRules[type];
  return (cell) => {
    const text = type === 'Number' ? plainNumber(name, cell, delimiter) : cell;
    return exactNumbers(name, fromCell(text), { source: text.trim() }) ?? cell;
  };
};

const maxColumns = 1000;
const maxNameLength = 1000;

/** Checks the length first, because it limits the work. */
const partsOf = (name: string): readonly string[] => {
  const shown = cutText(name, 100);
  if (name.length > maxNameLength) {
    throw new UnreadableFile(`The name of the column ${shown}… has more than ${maxNameLength} characters.`);
  }
  const parts = name.split('.');
  if (parts.length > maxDepth) {
    throw new UnreadableFile(`The column ${shown}… is nested more than ${maxDepth} levels deep.`);
  }
  if (parts.includes('')) throw new UnreadableFile(`The name of a column has an empty part: ${shown}.`);
  if (parts.some((part) => forbiddenKeys.has(part))) throw new UnreadableFile(`A column may not be named ${shown}.`);
  return parts;
};

const requireApart = (paths: ReadonlyMap<string, readonly string[]>): void => {
  for (const [name, parts] of paths) {
    let outer = '';
    for (const part of parts.slice(0, -1)) {
      outer = outer === '' ? part : `${outer}.${part}`;
      if (paths.has(outer)) throw new UnreadableFile(`The column ${cutText(name, 100)} is inside another column.`);
    }
  }
};

/**
 * Parses the header: at most 1000 dotted names of 1000 characters and 64 levels. Cells are read by field type, Objects
 * and Arrays as JSON. Throws `UnreadableFile`.
 */
export const columnsOf = (collection: Collection, record: readonly string[], delimiter: Delimiter = ','): Columns => {
  const names = record.map((name) => unguarded(name.trim()));
  names.length = names.findLastIndex((name) => name !== '') + 1;
  if (names.length > maxColumns) throw new UnreadableFile(`The file has more than ${maxColumns} columns.`);
  const paths = new Map<string, readonly string[]>();
  for (const name of names) {
    if (name === '') continue;
    if (paths.has(name)) throw new UnreadableFile(`The column ${cutText(name, 100)} comes twice.`);
    paths.set(name, partsOf(name));
  }
  requireApart(paths);
  return names.map((name) => {
    const path = paths.get(name);
    return path && { path, read: readerOf(name, typeAt(collection, name)?.type, delimiter) };
  });
};

const put = (body: Record<string, unknown>, path: readonly string[], value: unknown): void => {
  let object = body;
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(object, name)) object[name] = {};
    object = object[name] as Record<string, unknown>;
  }
  object[path.at(-1) ?? ''] = value;
};

export const bodyOf = (columns: Columns, cells: readonly string[]): JsonObject => {
  const body: Record<string, unknown> = {};
  for (const [index, column] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (column && cell !== '') put(body, column.path, column.read(unguarded(cell), column.path.length + 1));
  }
  return body;
};
