import { csvCell } from '../../../shared/transfers/csv-rows.ts';
import type { FileColumn } from './guess-fields.ts';
import { csvRows, objectTexts, type TableFile } from './table-file.ts';

/** Each takes less than a second, so that the page shows its progress. */
const pieceBytes = 512 * 1024;

const isSame = (columns: readonly FileColumn[]): boolean =>
  columns.every(({ source, name, kept }) => kept && name === source);

/** Whether an import reads the file as it is shown here. */
export const needsNoChange = (
  { detected, layout, unsure }: Pick<TableFile, 'detected' | 'layout' | 'unsure'>,
  columns: readonly FileColumn[],
): boolean =>
  isSame(columns) &&
  unsure === undefined &&
  JSON.stringify(detected) === JSON.stringify(layout) &&
  (layout.encoding === 'utf-8' || (layout.format === 'csv' && layout.encoding !== 'windows-1252'));

/** The pieces of a file as text, of which each begins with the rest of the one before. */
async function* textsOf(
  { file, layout }: TableFile,
  onRead: (bytes: number) => void,
  keep: () => string,
): AsyncGenerator<readonly [text: string, isWhole: boolean]> {
  const decoder = new TextDecoder(layout.encoding);
  for (let from = 0; from < file.size; from += pieceBytes) {
    const bytes = await file.slice(from, from + pieceBytes).arrayBuffer();
    const isLast = from + pieceBytes >= file.size;
    onRead(Math.min(file.size, from + pieceBytes));
    yield [keep() + decoder.decode(bytes, { stream: !isLast }), isLast];
  }
}

const csvParts = async (table: TableFile, columns: readonly FileColumn[], onRead: (bytes: number) => void) => {
  if (table.layout.format !== 'csv') return [];
  const { delimiter, namesDelimiter } = table.layout;
  const places = columns.flatMap(({ kept }, place) => (kept ? [place] : []));
  const lineOf = (cells: readonly string[]): string => cells.map(csvCell).join(delimiter);
  const parts = [`sep=${delimiter}\n${lineOf(places.map((place) => columns[place]?.name ?? ''))}\n`];
  let [rest, skipped, isNamed] = ['', !namesDelimiter, false];
  for await (const [text, isWhole] of textsOf(table, onRead, () => rest)) {
    const read = csvRows(text, delimiter, isWhole);
    rest = read.rest;
    const lines: string[] = [];
    for (const row of read.rows) {
      if (!skipped) skipped = true;
      else if (!isNamed) isNamed = row.some((cell) => cell.trim() !== '');
      else lines.push(lineOf(places.map((place) => row[place] ?? '')));
    }
    parts.push(lines.map((line) => `${line}\n`).join(''));
  }
  return parts;
};

const jsonParts = async (table: TableFile, columns: readonly FileColumn[], onRead: (bytes: number) => void) => {
  const names = new Map(columns.map(({ source, name, kept }) => [source, kept ? name : undefined]));
  const parts: string[] = [];
  let rest = '';
  for await (const [text] of textsOf(table, onRead, () => rest)) {
    const read = objectTexts(text);
    rest = read.rest;
    const lines = read.objects.map((object) => {
      const entries = Object.entries(JSON.parse(object) as Record<string, unknown>);
      const kept = entries.flatMap(([key, value]) => {
        const name = names.has(key) ? names.get(key) : key;
        return name === undefined ? [] : [[name, value] as const];
      });
      return `${JSON.stringify(Object.fromEntries(kept))}\n`;
    });
    parts.push(lines.join(''));
  }
  return parts;
};

/**
 * The file to import: the chosen one, or a copy in UTF-8 with the kept columns under their new names. `onRead` receives
 * the number of bytes read.
 */
export const convertFile = async (
  table: TableFile,
  columns: readonly FileColumn[],
  onRead: (bytes: number) => void,
): Promise<File> => {
  const { file, layout } = table;
  if (needsNoChange(table, columns)) return file;
  const isCsv = layout.format === 'csv';
  const parts = await (isCsv ? csvParts : jsonParts)(table, columns, onRead);
  const name = file.name.replace(/\.[^.]*$/, '');
  return new File(parts, `${name}.${isCsv ? 'csv' : 'ndjson'}`, { type: isCsv ? 'text/csv' : 'application/x-ndjson' });
};
