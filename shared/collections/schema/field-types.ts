import { parseDate } from '../../core/values.ts';
import { idOf } from '../../core/view.ts';
import type { Collection, Field } from '../collection.ts';
import { schemaError } from '../names.ts';

/**
 * Values of a type as a JSON schema, of which descriptions and types for clients are made. What it says besides type
 * and format is asked of stored values, too, when a field becomes one.
 */
export interface FieldTypeJson {
  readonly type: 'string' | 'number' | 'boolean' | 'object' | 'array';
  readonly format?: string;
  readonly pattern?: string;
  readonly multipleOf?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** What the schema language needs to know of a type; how its values are read is in scalar-values.ts. */
interface FieldTypeRules {
  readonly json: FieldTypeJson;
  /** What `$type` and `$jsonSchema` call its stored values. JSON writes each of these as it is to be answered. */
  readonly bsonType: 'string' | 'number' | 'bool' | 'date' | 'object' | 'array' | 'objectId';
  /** Whether a field of it may be unique. */
  readonly unique: boolean;
  /** Whether every field of it has an index, for lists are filtered by it. */
  readonly indexed: boolean;
  /** Whether a field of it may have a default, which is stored as it is in JSON. */
  readonly default: boolean;
}

/** Types of the schema language (specification, "Collection schema"), in the order in which they are listed. */
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
/** Type of a value that has no parts of its own. */
export type ScalarType = Exclude<FieldType, 'Object' | 'Array'>;

export const fieldTypeNames = Object.keys(fieldTypes) as readonly FieldType[];

/** Whether values of a type have no parts of their own. */
export const isScalar = (type: FieldType): type is ScalarType => type !== 'Object' && type !== 'Array';

/** Whether values of a type are numbers, as JSON writes them. */
export const isNumber = (type: FieldType): boolean => fieldTypes[type].json.type === 'number';

/** A type with its article: `a String`, `an Object`. */
export const withArticle = (type: FieldType): string => `${/^[AEIOU]/.test(type) ? 'an' : 'a'} ${type}`;

/** The types of which something holds, as a sentence lists them: `String, Number or Boolean`. */
export const listTypes = (holds: (rules: FieldTypeRules) => boolean, word: 'and' | 'or'): string => {
  const names = fieldTypeNames.filter((type) => holds(fieldTypes[type]));
  return `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
};

/** How values of a type are read; each reader returns `undefined` for what is no value of the type. */
interface ScalarRules {
  /** Its stored form, from a JSON value. */
  readonly fromJson: (value: unknown) => unknown;
  /** What a filter compares with, from the text of a query. */
  readonly fromText: (text: string) => unknown;
  /** What `fromText` takes, for people. */
  readonly described: string;
  /** Its JSON value, from the text of a cell of a CSV file. */
  readonly fromCell: (cell: string) => unknown;
}

const numberOf = (text: string): number | undefined => {
  const value = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
};

const numberInCell = (cell: string): number | undefined => numberOf(cell.trim().replace(/^\+/, ''));

/** `true` or `false`, in any case, since languages write them in several; `undefined` for any other text. */
export const booleanOf = (text: string): boolean | undefined =>
  /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;

/** Four digits are meant as a year, which is no day: as milliseconds they would be in the first seconds of 1970. */
const dateOf = (text: string): Date | undefined =>
  /^\d{4}$/.test(text) ? undefined : (parseDate(text) ?? parseDate(numberOf(text)));

const asIs = (text: string): string => text;

/** How values of each type are read, from bodies, filters and files (contract 2, "Field rules" and "Filter values"). */
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

/** What a text without a type may stand for: itself, `null`, a boolean, or the number of exactly this text. */
export const untypedValues = (text: string): readonly unknown[] => {
  if (text === 'null') return [text, null];
  const isTrue = booleanOf(text);
  if (isTrue !== undefined) return [text, isTrue];
  const value = numberOf(text);
  return value !== undefined && String(value) === text ? [text, value] : [text];
};

/** Languages whose words a search knows in their forms; with `none` every word is just itself. */
export const searchLanguages = [
  ...(['none', 'danish', 'dutch', 'english', 'finnish', 'french', 'german', 'hungarian', 'italian'] as const),
  ...(['norwegian', 'portuguese', 'romanian', 'russian', 'spanish', 'swedish', 'turkish'] as const),
] as const;

export type SearchLanguage = (typeof searchLanguages)[number];

const maxFields = 10;

/** What MongoDB calls parts of a text index itself. */
const taken: ReadonlySet<string> = new Set(['_fts', '_ftsx']);

/** The fields that a search goes through. */
export const searchableFields = ({ schema }: Pick<Collection, 'schema'>): readonly Field[] =>
  schema?.filter(({ searchable }) => searchable) ?? [];

/** Refuses fields that no search can go through, and more than 10: 400 `INVALID_SCHEMA`. */
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
