import type { Collection } from '../../collections/collection.ts';
import { type FieldType, isScalar } from '../../collections/schema/field-types.ts';
import { scalarRules } from '../../collections/schema/scalar-values.ts';
import { cutText } from '../../core/bounded-text.ts';
import { AppError } from '../../core/errors.ts';
import { exactNumbers, forbiddenKeys, maxDepth, parseJsonValue } from '../../core/json-value.ts';
import type { JsonObject } from '../../documents/document.ts';
import { typeAt } from '../../documents/read/field-at.ts';
import type { Delimiter } from './csv-form.ts';
import { UnreadableFile } from './import-lines.ts';

export interface Column {
  readonly path: readonly string[];
  readonly read: Reader;
}

/** `undefined` for a column without a name, which has no values. */
export type Columns = readonly (Column | undefined)[];

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

/** A number in groups of thousands, which may also be one with three decimals. */
const ambiguous: Readonly<Partial<Record<Delimiter, RegExp>>> = {
  ';': /^[+-]?[1-9]\d{0,2}(\.\d{3})+$/,
  '\t': /^[+-]?[1-9]\d{0,2}(,\d{3})+$/,
  '|': /^[+-]?[1-9]\d{0,2}(,\d{3})+$/,
};

/**
 * A number as JSON has it. Where commas do not separate columns, one may be the decimal sign, as in most of Europe. A
 * number that has two readings → 400.
 */
const plainNumber = (name: string, cell: string, delimiter: Delimiter): string => {
  const text = cell.trim();
  if (delimiter === ',') return text;
  if (ambiguous[delimiter]?.test(text)) {
    throw new AppError(
      'VALIDATION_FAILED',
      `${name}: ${cutText(text, 100)} has two readings, with thousands or with decimals. Write it without a separator of thousands.`,
    );
  }
  const digits = /^[+-]?[1-9]\d{0,2}(\.\d{3})+,\d+$/.test(text) ? text.replaceAll('.', '') : text;
  return /^[+-]?\d*,\d+(e[+-]?\d+)?$/i.test(digits) ? digits.replace(',', '.') : text;
};

/** What is not the text of such a value stays as it is, for the validation to refuse. */
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
 * The columns of a CSV file's first line: field names, dotted for sub-fields, at most 1000 of 1000 characters and 64
 * levels. Cells are read by the field's type, Objects and Arrays as JSON, else as text. Not usable → `UnreadableFile`.
 */
export const columnsOf = (collection: Collection, record: readonly string[], delimiter: Delimiter = ','): Columns => {
  const names = record.map((name) => name.trim());
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

/** The document of one row; an empty cell leaves its field out. */
export const bodyOf = (columns: Columns, cells: readonly string[]): JsonObject => {
  const body: Record<string, unknown> = {};
  for (const [index, column] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (column && cell !== '') put(body, column.path, column.read(cell, column.path.length + 1));
  }
  return body;
};
