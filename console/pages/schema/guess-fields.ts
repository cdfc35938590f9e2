import { noRowSecurity, systemFields } from '../../../shared/collections/collection.ts';
import type { FieldType } from '../../../shared/collections/schema/field-types.ts';
import { parseDate } from '../../../shared/core/values.ts';
import { columnsOf as csvColumnsOf, type Delimiter } from '../../../shared/transfers/csv-format.ts';
import { type FieldDraft, newField } from './schema-draft.ts';
import type { TableFile } from './table-file.ts';

/** A column of a file, and what becomes of it. */
export interface FileColumn {
  readonly source: string;
  readonly name: string;
  readonly kept: boolean;
  /** Absent if its values have several types, or none: the schema then leaves the field out. */
  readonly type?: Guess | undefined;
}

/** The type of a value, and of what it contains. */
export type Guess = Pick<FieldDraft, 'type'> & { readonly items?: Guess; readonly fields?: readonly NamedGuess[] };
type NamedGuess = Guess & { readonly key: string };

/** Whether an import reads a cell as a number. Codes such as `007` and phone numbers are texts. */
const numberReader = (delimiter: Delimiter): ((cell: string) => boolean) => {
  const field = { key: 'number', type: 'Number', required: false, unique: false } as const;
  const [column] = csvColumnsOf({ name: 'numbers', schema: [field], rls: noRowSecurity }, ['number'], delimiter);
  return (cell) => {
    if (/^\s*(?:-?0\d|\+)/.test(cell)) return false;
    try {
      return typeof column?.read(cell, 1) === 'number';
    } catch {
      return false;
    }
  };
};

const isDate = (text: string): boolean => /^\d{4}-/.test(text) && parseDate(text) !== undefined;

const jsonIn = (text: string): unknown => {
  try {
    return /^\s*[{[]/.test(text) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
};

const guessCells = (cells: readonly string[], delimiter: Delimiter): Guess => {
  const all = (holds: (cell: string) => boolean): boolean => cells.every(holds);
  if (all((cell) => /^(?:true|false)$/i.test(cell))) return { type: 'Boolean' };
  if (all(numberReader(delimiter))) return { type: 'Number' };
  if (all(isDate)) return { type: 'Date' };
  const values = cells.map(jsonIn);
  const guess = values.includes(undefined) ? undefined : guessValues(values);
  return guess ?? { type: 'String' };
};

const kindOf = (value: unknown): FieldType | undefined => {
  if (typeof value === 'string') return isDate(value) ? 'Date' : 'String';
  if (typeof value === 'number') return 'Number';
  if (typeof value === 'boolean') return 'Boolean';
  if (Array.isArray(value)) return 'Array';
  return typeof value === 'object' && value !== null ? 'Object' : undefined;
};

const present = (value: unknown): boolean => value !== null && value !== undefined;

/** The type that all JSON values have in common, or `undefined`. */
const guessValues = (values: readonly unknown[]): Guess | undefined => {
  const found = values.filter(present);
  const kinds = [...new Set(found.map(kindOf))];
  const [type] = kinds;
  if (kinds.length === 2 && kinds.includes('String') && kinds.includes('Date')) return { type: 'String' };
  if (type === undefined || kinds.length > 1) return undefined;
  if (type === 'Array') {
    const items = guessValues((found as unknown[][]).flat());
    return { type, ...(items && { items }) };
  }
  if (type !== 'Object') return { type };
  const objects = found as Readonly<Record<string, unknown>>[];
  const keys = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const fields = keys.flatMap((key): NamedGuess[] => {
    const guess = guessValues(objects.map((object) => (Object.hasOwn(object, key) ? object[key] : undefined)));
    return guess && mayBeKey(key) ? [{ key, ...guess }] : [];
  });
  return { type, fields };
};

const unsafe: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype', '_bsontype']);

export const mayBeKey = (key: string): boolean =>
  key !== '' && key.length <= 64 && !key.startsWith('$') && !key.includes('.') && !unsafe.has(key);

/** A dotted name of a CSV column leads into objects. */
export const pathIn = ({ layout }: Pick<TableFile, 'layout'>, name: string): readonly string[] =>
  layout.format === 'csv' ? name.split('.') : [name];

export const mayBeName = (table: Pick<TableFile, 'layout'>, name: string): boolean =>
  pathIn(table, name).every(mayBeKey);

const isWritten = (name: string): boolean => name !== '_id' && systemFields.has(name);

/** The columns of a file with the types of their values. Columns that cannot be fields are left out. */
export const columnsOf = (table: TableFile): readonly FileColumn[] =>
  table.columns.map((source, place) => {
    const values = table.rows.map((row) => row[place]).filter((value) => present(value) && value !== '');
    const type =
      values.length === 0
        ? undefined
        : table.layout.format === 'csv'
          ? guessCells(values as string[], table.layout.delimiter)
          : guessValues(values);
    return { source, name: source, kept: mayBeName(table, source) && !isWritten(source), type };
  });

const depth = (guess: Guess): number =>
  1 + Math.max(0, ...(guess.items ? [depth(guess.items)] : []), ...(guess.fields ?? []).map(depth));

const maxLevels = 8;
const maxFields = 100;

const draftOfGuess = ({ type, items, fields = [] }: Guess, level: number): FieldDraft =>
  newField({
    type,
    ...(items && level < maxLevels && { items: draftOfGuess(items, level + 1) }),
    fields:
      level < maxLevels
        ? fields.slice(0, maxFields).map((field) => ({ ...draftOfGuess(field, level + 1), key: field.key }))
        : [],
  });

const put = (
  fields: readonly FieldDraft[],
  [key = '', ...rest]: readonly string[],
  guess: Guess,
  level = 1,
): readonly FieldDraft[] => {
  const place = fields.findIndex((field) => field.key === key);
  const known = fields[place];
  if (rest.length === 0 || level === maxLevels || depth(guess) + level > maxLevels + 1)
    return known ? fields : [...fields, { ...draftOfGuess(rest.length > 0 ? { type: 'Object' } : guess, level), key }];
  const outer = known ?? newField({ key, type: 'Object' });
  const next = { ...outer, fields: put(outer.fields, rest, guess, level + 1) };
  return known ? fields.with(place, next) : [...fields, next];
};

/** The fields for the columns that are kept. */
export const fieldsFor = (table: TableFile, columns: readonly FileColumn[]): readonly FieldDraft[] =>
  columns
    .filter(({ kept, name }) => kept && name !== '_id' && mayBeName(table, name))
    .reduce<readonly FieldDraft[]>(
      (fields, { name, type }) => (type ? put(fields, pathIn(table, name), type) : fields),
      [],
    )
    .slice(0, maxFields);

/** Whether all ids are those of documents, so that an import can keep them. */
export const hasOwnIds = (table: TableFile, columns: readonly FileColumn[]): boolean => {
  const place = columns.findIndex(({ name, kept }) => kept && name === '_id');
  const ids = table.rows.map((row) => row[place]);
  return place !== -1 && ids.length > 0 && ids.every((id) => typeof id === 'string' && /^[0-9a-f]{24}$/i.test(id));
};
