import type { Collection } from '../../collections/collection.ts';
import { type FieldType, isScalar } from '../../collections/schema/field-types.ts';
import { scalarRules } from '../../collections/schema/scalar-values.ts';
import { cutText } from '../../core/bounded-text.ts';
import { AppError } from '../../core/errors.ts';
import { exactNumbers, forbiddenKeys, maxDepth, parseJsonValue } from '../../core/json-value.ts';
import type { JsonObject } from '../../documents/document.ts';
import { typeAt } from '../../documents/read/field-at.ts';
import { UnreadableFile } from './import-lines.ts';

export interface Column {
  readonly path: readonly string[];
  readonly read: Reader;
}

/** The value of a cell that stands `level` - 1 levels deep in its document. */
type Reader = (cell: string, level: number) => unknown;

const readJson: Reader = (cell, level) => {
  try {
    return parseJsonValue(cell, level);
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_JSON') return cell;
    throw error;
  }
};

/** What is not the text of such a value stays as it is, for the validation to refuse. */
const readerOf = (name: string, type: FieldType | undefined): Reader => {
  if (type === undefined) return (cell) => cell;
  if (!isScalar(type)) return readJson;
  const { fromCell } = scalarRules[type];
  return (cell) => exactNumbers(name, fromCell(cell), { source: cell.trim() }) ?? cell;
};

const maxColumns = 1000;
const maxNameLength = 1000;

/** A name is checked before it is taken apart: its length is all that bounds the work it makes. */
const partsOf = (name: string): readonly string[] => {
  const shown = cutText(name, 100);
  if (name.length > maxNameLength) {
    throw new UnreadableFile(`The name of the column ${shown}… has more than ${maxNameLength} characters.`);
  }
  const parts = name.split('.');
  if (parts.length > maxDepth) {
    throw new UnreadableFile(`The column ${shown}… is nested more than ${maxDepth} levels deep.`);
  }
  if (parts.includes('')) throw new UnreadableFile('The first line must name every column.');
  if (parts.some((part) => forbiddenKeys.has(part))) throw new UnreadableFile(`A column may not be named ${shown}.`);
  return parts;
};

/** A comma may be the decimal sign where a file was saved, which has its columns then apart by something else. */
const requireCommas = (names: readonly string[]): void => {
  const [name = ''] = names;
  if (names.length > 1 || !/[;\t]/.test(name)) return;
  throw new UnreadableFile('The first line names one column: separate columns by commas, not by semicolons or tabs.');
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
 * The columns of a CSV file's first line: field names, dotted for sub-fields, at most 1000 of 1000 characters and 64
 * levels. Cells are read by the field's type, Objects and Arrays as JSON, else as text. Not usable → `UnreadableFile`.
 */
export const columnsOf = (collection: Collection, names: readonly string[]): readonly Column[] => {
  if (names.length > maxColumns) throw new UnreadableFile(`The file has more than ${maxColumns} columns.`);
  requireCommas(names);
  const paths = new Map<string, readonly string[]>();
  for (const name of names) {
    if (paths.has(name)) throw new UnreadableFile(`The column ${cutText(name, 100)} comes twice.`);
    paths.set(name, partsOf(name));
  }
  requireApart(paths);
  return Array.from(paths, ([name, path]) => ({
    path,
    read: readerOf(name, typeAt(collection, name)?.type),
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
    if (cell !== '') put(body, path, read(cell, path.length + 1));
  }
  return body;
};
