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
