import { memoizeByObject } from '../../core/cache.ts';
import { type FieldError, maxErrors, validationFailed } from '../../core/errors.ts';
import { isPlainObject, maxDepth } from '../../core/json.ts';
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

export const shown = (text: string): string => cutText(text, 64, '…');

type Named = Pick<Collection, 'name'>;

const maxNamed = 200;

const unknownField = ({ name }: Named, path: string): FieldError => {
  const field = cutText(path, maxNamed, '…');
  return { field, message: `${field} is not a field of "${name}"` };
};

const inValue = (at: ValueType, value: unknown, path: string, found: string[]): void => {
  if (at.fields && isPlainObject(value)) inObject(at.fields, value, `${path}.`, found);
  if (!at.items || !Array.isArray(value)) return;
  for (const [position, element] of value.entries()) inValue(at.items, element, `${path}.${position}`, found);
};

const inObject = (
  fields: readonly Field[],
  object: Readonly<Record<string, unknown>>,
  prefix: string,
  found: string[],
): void => {
  for (const [key, value] of Object.entries(object)) {
    if (found.length >= maxErrors) return;
    const field = fields.find((candidate) => candidate.key === key);
    if (field) inValue(field, value, prefix + key, found);
    else found.push(prefix + key);
  }
};

/** Errors for fields of a body that a closed collection's schema lacks. */
export const unknownFields = (
  collection: Named & Pick<Collection, 'closed'>,
  fields: readonly Field[],
  body: Readonly<Record<string, unknown>>,
): readonly FieldError[] => {
  if (!collection.closed) return [];
  const found: string[] = [];
  inObject(fields, body, '', found);
  return found.map((path) => unknownField(collection, path));
};

/** Errors for dotted paths of an update that a closed collection's schema lacks. */
export const unknownPaths = (
  collection: Named & Pick<Collection, 'closed'>,
  fields: readonly Field[],
  changes: Readonly<Record<string, unknown>>,
): readonly FieldError[] => {
  if (!collection.closed) return [];
  const found: string[] = [];
  for (const [path, value] of Object.entries(changes)) {
    if (isUnknownPath(fields, path)) found.push(path);
    const at = fieldAt(fields, path);
    if (at) inValue(at, value, path, found);
    if (found.length >= maxErrors) break;
  }
  return found.slice(0, maxErrors).map((path) => unknownField(collection, path));
};

/** Throws 400 `VALIDATION_FAILED` for filters and sorts by fields that a closed collection's schema lacks. */
export const requireKnownPaths = (collection: Collection, paths: Iterable<string>): void => {
  if (!collection.closed) return;
  const fields = fieldsOf(collection);
  const unknown = [...new Set(paths)].filter((path) => isUnknownPath(fields, path)).slice(0, maxErrors);
  if (unknown.length > 0) throw validationFailed(...unknown.map((path) => unknownField(collection, path)));
};
