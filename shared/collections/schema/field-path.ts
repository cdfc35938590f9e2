import { memoizeByObject } from '../../core/cache.ts';
import { maxDepth } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import { type Collection, type Field, ownerFieldOf, systemFields, type ValueType } from '../collection.ts';

/**
 * The fields that are enforced in a collection: its schema and, under row security, the owner field as an implied
 * `String`, unless the schema has it as a `Ref` to users. Worked out once for a collection object; empty where anything goes.
 */
export const fieldsOf = memoizeByObject(({ schema, rls }: Collection): readonly Field[] => {
  const fields = schema ?? [];
  const ownerField = ownerFieldOf(rls);
  if (ownerField === undefined) return fields;
  const declared = fields.find(({ key }) => key === ownerField);
  const required = declared?.required ?? false;
  const owner: Field =
    declared?.type === 'Ref' ? declared : { key: ownerField, type: 'String', required, unique: false };
  return [...fields.filter(({ key }) => key !== ownerField), owner];
});

/** The system fields have a type without any schema; `_id` is an ObjectId like a `Ref`, but points nowhere. */
const systemTypes: ReadonlyMap<string, ValueType> = new Map([
  ['_id', { type: 'Ref' }],
  ['isDeleted', { type: 'Boolean' }],
  ['deletedAt', { type: 'Date' }],
  ['createdAt', { type: 'Date' }],
  ['updatedAt', { type: 'Date' }],
]);

const named = (fields: readonly Field[] | undefined, key: string): ValueType | undefined =>
  fields?.find((field) => field.key === key);

/** The number of an array element in a path: `0`, `17`, never `01`. */
export const isPosition = (segment: string): boolean => /^(0|[1-9]\d{0,15})$/.test(segment);

const below = (at: ValueType, segment: string): ValueType | undefined => {
  if (at.type === 'Object') return named(at.fields, segment);
  if (at.type !== 'Array') return undefined;
  if (isPosition(segment)) return at.items;
  return at.items?.type === 'Object' ? named(at.items.fields, segment) : undefined;
};

/**
 * What a schema says about the value at a dotted path; `undefined` where it says nothing (unknown field, no schema).
 * Array elements are reached by number (`tags.0`), sub-fields of array elements also straight through (`tags.author`).
 * `_id` answers as a `Ref` without target, the system dates as `Date`, `isDeleted` as `Boolean`, in every collection.
 */
export const fieldAt = (schema: readonly Field[] | null, path: string): ValueType | undefined => {
  const [first = '', ...rest] = path.split('.');
  let at = systemTypes.get(first) ?? named(schema ?? [], first);
  for (const segment of rest) {
    if (!at) return undefined;
    at = below(at, segment);
  }
  return at;
};

/**
 * Whether a schema leaves no place for a path: a name that is not among the fields it lists there, or one inside a
 * scalar. What it leaves open, such as an `Object` without fields, takes any path.
 */
export const isUnknownPath = (fields: readonly Field[], path: string): boolean => {
  const [first = '', ...rest] = path.split('.');
  if (systemFields.has(first)) return false;
  let at = named(fields, first);
  for (const segment of rest) {
    if (!at) return true;
    const part: ValueType = at.type === 'Array' && !isPosition(segment) ? (at.items ?? at) : at;
    if ((part.type === 'Object' && !part.fields) || (part.type === 'Array' && !part.items)) return false;
    at = below(part, segment);
  }
  return !at;
};

/** `fieldAt` for a collection, its implied owner field included. */
export const typeAt = (collection: Collection, path: string): ValueType | undefined =>
  fieldAt(fieldsOf(collection), path);

/** No document has a field of this name: the driver takes an object with it for a value of its own. */
const driverTag = '_bsontype';

/**
 * Whether a text can name a field: dotted segments, none of them empty or starting with `$`, no NUL, at most 64 levels.
 * Everything that comes from a query string and becomes a path passes here, so that it can never be an operator.
 */
export const isFieldPath = (path: string): boolean => {
  const segments = path.split('.');
  return (
    segments.length <= maxDepth &&
    !path.includes('\0') &&
    segments.every((segment) => segment !== '' && segment !== driverTag && !segment.startsWith('$'))
  );
};

/** A caller's text as it may stand in a message: at most 64 characters. */
export const shown = (text: string): string => cutText(text, 64, '…');
