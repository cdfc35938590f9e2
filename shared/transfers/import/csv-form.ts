import { UnreadableFile } from './import-lines.ts';

/** What separates the cells of a row, by the names that messages give it. */
const delimiters = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' } as const;
export type Delimiter = keyof typeof delimiters;

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** How a CSV file is written. */
export interface CsvForm {
  readonly encoding: Encoding;
  readonly delimiter: Delimiter;
  /** Its first line is `sep=…`, which spreadsheets read as the delimiter. */
  readonly namesDelimiter: boolean;
}

/** Rows of the start of a file, read with a delimiter; none where it is no CSV then. */
type ReadRows = (text: string, delimiter: Delimiter) => Promise<readonly (readonly string[])[]>;

const isDelimiter = (text: string): text is Delimiter => Object.hasOwn(delimiters, text);

const beginsWith = (bytes: Uint8Array, ...start: readonly number[]): boolean =>
  start.every((byte, index) => bytes[index] === byte);

const isBinary = (bytes: Uint8Array): boolean =>
  beginsWith(bytes, 0x50, 0x4b, 0x03, 0x04) ||
  beginsWith(bytes, 0xd0, 0xcf, 0x11, 0xe0) ||
  beginsWith(bytes, 0x1f, 0x8b);

/** The encoding that the first bytes of a file name. A workbook, an archive, or UTF-16 without a mark → `UnreadableFile`. */
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

/** The delimiters in the first line that has more than those, outside quotes. */
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

/** Whether the rows below the first have as many cells as it, but for empty ones at the end. */
const areOfOneWidth = (rows: readonly (readonly string[])[]): boolean => {
  const [first = [], ...rest] = rows.filter((row) => usedLength(row) > 0);
  return rest.length > 0 && rest.every((row) => row.length >= usedLength(first) && usedLength(row) <= first.length);
};

/**
 * How a file is written, by the text that it begins with. Where its first line has several delimiters, the rows below
 * it must fit one of them alone, else → `UnreadableFile`.
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

/** Bytes of the file that a byte of its text in UTF-8 stands for. */
export const sourceBytes = (encoding: Encoding, byte: number): number => {
  if (encoding === 'utf-8') return 1;
  if ((byte & 0xc0) === 0x80) return 0;
  return byte >= 0xf0 ? 4 : 2;
};
