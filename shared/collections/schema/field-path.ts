import { memoizeByObject } from '../../core/cache.ts';
import { maxDepth } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import { type Collection, type Field, ownerFieldOf, systemFields, type ValueType } from '../collection.ts';

/** The enforced fields: the schema and, under row security, the owner field as an implied `String`. */
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

/** `_id` has the type of a `Ref` without a target. */
const systemTypes: ReadonlyMap<string, ValueType> = new Map([
  ['_id', { type: 'Ref' }],
  ['isDeleted', { type: 'Boolean' }],
  ['deletedAt', { type: 'Date' }],
  ['createdAt', { type: 'Date' }],
  ['updatedAt', { type: 'Date' }],
]);

const named = (fields: readonly Field[] | undefined, key: string): ValueType | undefined =>
  fields?.find((field) => field.key === key);

/** An array position: `0` or `17`, but not `01`. */
export const isPosition = (segment: string): boolean => /^(0|[1-9]\d{0,15})$/.test(segment);

const below = (at: ValueType, segment: string): ValueType | undefined => {
  if (at.type === 'Object') return named(at.fields, segment);
  if (at.type !== 'Array') return undefined;
  if (isPosition(segment)) return at.items;
  return at.items?.type === 'Object' ? named(at.items.fields, segment) : undefined;
};

/**
 * Returns the type at a dotted path, if the schema declares one. Positions lead into arrays (`tags.0`); names also lead
 * through their elements (`tags.author`). System fields have types in every collection.
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
 * True if a schema excludes a path: an undeclared name, or one inside a scalar. An `Object` without fields allows any
 * path.
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

/** Includes the implied owner field. */
export const typeAt = (collection: Collection, path: string): ValueType | undefined =>
  fieldAt(fieldsOf(collection), path);

/** The driver interprets an object with this field, so no document can have it. */
const driverTag = '_bsontype';

/**
 * True if a text can be a path: no empty segment, none starting with `$`, no NUL, at most 64 levels. All paths from
 * query strings pass this check, so that none is an operator.
 */
export const isFieldPath = (path: string): boolean => {
  const segments = path.split('.');
  return (
    segments.length <= maxDepth &&
    !path.includes('\0') &&
    segments.every((segment) => segment !== '' && segment !== driverTag && !segment.startsWith('$'))
  );
};

/** Cuts a caller's text for a message. */
export const shown = (text: string): string => cutText(text, 64, '…');
