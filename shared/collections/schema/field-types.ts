import { idOf, parseDate } from '../../core/values.ts';
import type { Collection, Field } from '../collection.ts';
import { schemaError } from '../names.ts';

/**
 * Used for API descriptions and client types. When an existing field gets this type, stored values are checked by all
 * of it except type and format.
 */
export interface FieldTypeJson {
  readonly type: 'string' | 'number' | 'boolean' | 'object' | 'array';
  readonly format?: string;
  readonly pattern?: string;
  readonly multipleOf?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** What holds for the values of a type. `scalarRules` parses and compares scalars. */
interface FieldTypeRules {
  readonly json: FieldTypeJson;
  readonly bsonType: 'string' | 'number' | 'bool' | 'date' | 'object' | 'array' | 'objectId';
  readonly unique: boolean;
  /** Every field of this type gets an index, because lists filter by it. */
  readonly indexed: boolean;
  /** A field of this type may have a default, stored as in JSON. */
  readonly default: boolean;
}

export const fieldTypes = {
  String: { json: { type: 'string' }, bsonType: 'string', unique: true, indexed: false, default: true },
  Number: { json: { type: 'number' }, bsonType: 'number', unique: true, indexed: false, default: true },
  Boolean: { json: { type: 'boolean' }, bsonType: 'bool', unique: true, indexed: false, default: true },
  Date: {
    json: { type: 'string', format: 'date-time' },
    bsonType: 'date',
    unique: true,
    indexed: false,
    default: false,
  },
  Object: { json: { type: 'object' }, bsonType: 'object', unique: false, indexed: false, default: false },
  Array: { json: { type: 'array' }, bsonType: 'array', unique: false, indexed: false, default: false },
  Ref: {
    json: { type: 'string', pattern: '^[0-9a-fA-F]{24}$' },
    bsonType: 'objectId',
    unique: true,
    indexed: true,
    default: false,
  },
} as const satisfies Readonly<Record<string, FieldTypeRules>>;

export type FieldType = keyof typeof fieldTypes;
export type ScalarType = Exclude<FieldType, 'Object' | 'Array'>;

export const fieldTypeNames = Object.keys(fieldTypes) as readonly FieldType[];

export const isScalar = (type: FieldType): type is ScalarType => type !== 'Object' && type !== 'Array';

export const isNumber = (type: FieldType): boolean => fieldTypes[type].json.type === 'number';

export const withArticle = (type: FieldType): string => `${/^[AEIOU]/.test(type) ? 'an' : 'a'} ${type}`;

/** Lists types as a sentence does: `String, Number or Boolean`. */
export const listTypes = (holds: (rules: FieldTypeRules) => boolean, word: 'and' | 'or'): string => {
  const names = fieldTypeNames.filter((type) => holds(fieldTypes[type]));
  return `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
};

/** Each reader returns `undefined` for an invalid value. */
interface ScalarRules {
  readonly fromJson: (value: unknown) => unknown;
  readonly fromText: (text: string) => unknown;
  /** What `fromText` accepts, for messages. */
  readonly described: string;
  readonly fromCell: (cell: string) => unknown;
}

const numberOf = (text: string): number | undefined => {
  const value = /^-?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
};

const numberInCell = (cell: string): number | undefined => numberOf(cell.trim().replace(/^\+/, ''));

/** In any case, because languages differ. */
export const booleanOf = (text: string): boolean | undefined =>
  /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;

/** Four digits are meant as a year, not as milliseconds. */
const dateOf = (text: string): Date | undefined =>
  /^\d{4}$/.test(text) ? undefined : (parseDate(text) ?? parseDate(numberOf(text)));

const asIs = (text: string): string => text;

export const scalarRules: Readonly<Record<ScalarType, ScalarRules>> = {
  String: {
    fromJson: (value) => (typeof value === 'string' ? value : undefined),
    fromText: asIs,
    described: 'a text',
    fromCell: asIs,
  },
  Number: {
    fromJson: (value) => (typeof value === 'number' ? value : undefined),
    fromText: numberOf,
    described: 'a number',
    fromCell: numberInCell,
  },
  Boolean: {
    fromJson: (value) => (typeof value === 'boolean' ? value : undefined),
    fromText: booleanOf,
    described: 'true or false',
    fromCell: booleanOf,
  },
  Date: {
    fromJson: parseDate,
    fromText: dateOf,
    described: 'an ISO 8601 date, such as 2026-01-31, or whole milliseconds',
    fromCell: asIs,
  },
  Ref: {
    fromJson: idOf,
    fromText: idOf,
    described: 'a document id of 24 hexadecimal characters',
    fromCell: asIs,
  },
};

/** What an untyped query parameter can mean: the text, `null`, a boolean, or the number with exactly this text. */
export const untypedValues = (text: string): readonly unknown[] => {
  if (text === 'null') return [text, null];
  const isTrue = booleanOf(text);
  if (isTrue !== undefined) return [text, isTrue];
  const value = numberOf(text);
  return value !== undefined && String(value) === text ? [text, value] : [text];
};

/** `none`: no stemming. */
export const searchLanguages = [
  ...(['none', 'danish', 'dutch', 'english', 'finnish', 'french', 'german', 'hungarian', 'italian'] as const),
  ...(['norwegian', 'portuguese', 'romanian', 'russian', 'spanish', 'swedish', 'turkish'] as const),
] as const;

export type SearchLanguage = (typeof searchLanguages)[number];

const maxFields = 10;

/** MongoDB uses these in text indexes. */
const taken: ReadonlySet<string> = new Set(['_fts', '_ftsx']);

export const searchableFields = ({ schema }: Pick<Collection, 'schema'>): readonly Field[] =>
  schema?.filter(({ searchable }) => searchable) ?? [];

/** Throws 400 `INVALID_SCHEMA` for unsearchable fields, and for more than 10. */
export const requireSearchable = (fields: readonly Field[]): void => {
  const searchable = searchableFields({ schema: fields });
  for (const { key, type, items } of searchable) {
    if (taken.has(key)) throw schemaError(key, 'has a name that no searchable field may have');
    if (type === 'String' || (type === 'Array' && items?.type === 'String')) continue;
    throw schemaError(key, 'is searchable, which only a String or an Array of String may be');
  }
  if (searchable.length <= maxFields) return;
  throw schemaError('schema', `has more than ${maxFields} searchable fields`);
};
