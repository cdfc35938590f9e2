import type { Collection } from '../collections/collection.ts';
import type { JsonObject } from '../documents/document.ts';
import { typeAt } from '../documents/field-at.ts';
import { AppError } from '../errors.ts';
import { parseJsonValue } from '../json-value.ts';
import { UnreadableFile } from './import-lines.ts';

/** A column: the path that it fills, and how its cells are read. */
export interface Column {
  readonly path: readonly string[];
  readonly read: (cell: string) => unknown;
}

/** What is not the text of such a value stays as it is, for the validation to refuse. */
const readNumber = (cell: string): unknown => {
  const number = cell.trim() === '' ? Number.NaN : Number(cell);
  return Number.isFinite(number) ? number : cell;
};

const readBoolean = (cell: string): unknown => {
  const text = cell.toLowerCase();
  return text === 'true' || text === 'false' ? text === 'true' : cell;
};

const readJson = (cell: string): unknown => {
  try {
    return parseJsonValue(cell);
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_JSON') return cell;
    throw error;
  }
};

const readText = (cell: string): unknown => cell;

const readers: ReadonlyMap<string | undefined, Column['read']> = new Map([
  ['Number', readNumber],
  ['Boolean', readBoolean],
  ['Object', readJson],
  ['Array', readJson],
]);

const mostColumns = 1000;
const forbidden = new Set(['__proto__', '_bsontype']);

const requireColumns = (names: readonly string[]): void => {
  if (names.length > mostColumns) throw new UnreadableFile(`The file has more than ${mostColumns} columns.`);
  const paths = new Set<string>();
  for (const name of names) {
    const parts = name.split('.');
    if (parts.includes('')) throw new UnreadableFile('The first line must name every column.');
    if (parts.some((part) => forbidden.has(part)))
      throw new UnreadableFile(`A column may not be named ${name.slice(0, 100)}.`);
    if (paths.has(name)) throw new UnreadableFile(`The column ${name.slice(0, 100)} comes twice.`);
    paths.add(name);
  }
  const inside = names.find((name) =>
    name.split('.').some((_, index, parts) => index > 0 && paths.has(parts.slice(0, index).join('.'))),
  );
  if (inside !== undefined) {
    throw new UnreadableFile(`The column ${inside.slice(0, 100)} is inside another column.`);
  }
};

/**
 * The columns that the first line of a CSV file names: field names, dotted ones for sub-fields. Cells are read by the type
 * that the schema gives the field, Objects and Arrays as JSON; without a type they are text.
 */
export const columnsOf = (collection: Collection, names: readonly string[]): readonly Column[] => {
  requireColumns(names);
  return names.map((name) => ({
    path: name.split('.'),
    read: readers.get(typeAt(collection, name)?.type) ?? readText,
  }));
};

const put = (body: Record<string, unknown>, path: readonly string[], value: unknown): void => {
  let object = body;
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(object, name)) object[name] = {};
    object = object[name] as Record<string, unknown>;
  }
  object[path.at(-1) ?? ''] = value;
};

/** The document of one row; an empty cell leaves its field out. */
export const bodyOf = (columns: readonly Column[], cells: readonly string[]): JsonObject => {
  const body: Record<string, unknown> = {};
  for (const [index, { path, read }] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (cell !== '') put(body, path, read(cell));
  }
  return body;
};
