import type { Field, ValueType } from '../../collections/collection.ts';
import { boundMessage, brokenBound } from '../../collections/schema/field-bounds.ts';
import { fieldAt, isPosition } from '../../collections/schema/field-path.ts';
import { withArticle } from '../../collections/schema/field-types.ts';
import { type AppError, validationFailed } from '../../core/errors.ts';
import { forbiddenKeys, maxDepth } from '../../core/json.ts';
import type { Document, JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';
import type { Guard } from './guarded-write.ts';
import { invalidUpdate, shownPath } from './operations.ts';
import { sizeOf } from './validate.ts';

/** The value of a document at a path of names and positions. */
export const valueAt = (document: Document, path: string): unknown =>
  path.split('.').reduce<unknown>((value, segment) => {
    if (Array.isArray(value)) return value[Number(segment)];
    return isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
  }, document);

/** An element can only be set in an array; MongoDB would create an object instead. */
const mustBeArray = (path: string): Guard => ({
  filter: { [path]: { $type: 'array' } },
  refusal: (document) =>
    Array.isArray(valueAt(document, path))
      ? undefined
      : invalidUpdate(`"${path}" is not an array, so its elements cannot be set. Set "${path}" as a whole.`),
});

/** `00` is a field name, but MongoDB reads it as a position in an array. */
const mustNotBeArray = (path: string, name: string): Guard => ({
  filter: { [path]: { $not: { $type: 'array' } } },
  refusal: (document) =>
    Array.isArray(valueAt(document, path))
      ? invalidUpdate(`"${path}" is an Array: "${name}" is not a position in it. Write ${Number(name)}.`)
      : undefined,
});

/** A position beyond the end is rejected: MongoDB would fill the gap with up to 1.5 million nulls. */
const mustReach = (path: string, position: number): Guard => ({
  filter: {
    $or: [{ [path]: { $not: { $type: 'array' } } }, { [`${path}.${position - 1}`]: { $exists: true } }],
  },
  refusal: (document) => {
    const value = valueAt(document, path);
    return Array.isArray(value) && value.length < position
      ? invalidUpdate(`"${path}.${position}" is beyond the end of the array, which has ${value.length} elements.`)
      : undefined;
  },
});

/** A missing object is not created without the sub-fields that it requires. */
const mustBeObject = (path: string, requiredField: string): Guard => ({
  filter: { [path]: { $type: 'object' } },
  refusal: (document) => {
    if (isJsonObject(valueAt(document, path))) return undefined;
    const field = `${path}.${requiredField}`;
    return validationFailed({ field, message: `${field} is required` });
  },
});

/** The bytes of BSON of a value, rounded up. */
const bytesOf = (value: unknown): number => sizeOf({ v: value });

/**
 * The new values must not be larger than those that they replace. Array positions count as nothing, because no path
 * knows them; so do `hidden` paths, because the outcome would reveal their size.
 */
export const mustNotGrow = (set: JsonObject, refusal: AppError, hidden: ReadonlySet<string> = new Set()): Guard => {
  const paths = Object.keys(set);
  const named = paths.filter((path) => !hidden.has(path) && !path.split('.').some(isPosition));
  const unnamed = (paths.length - named.length) * bytesOf(undefined);
  const needed = paths.reduce((bytes, path) => bytes + bytesOf(set[path]), 0) - unnamed;
  return {
    filter: { $expr: { $gte: [{ $add: [0, ...named.map((path) => ({ $bsonSize: { v: `$${path}` } }))] }, needed] } },
    refusal: (document) =>
      named.reduce((bytes, path) => bytes + bytesOf(valueAt(document, path)), 0) < needed ? refusal : undefined,
  };
};

/** The time of an update in MongoDB grows with its paths times the fields of the document: 20 000 take seconds. */
const maxPaths = 1000;
const maxGuards = 500;
/** MongoDB itself fills no array further. */
const maxPosition = 1_500_000;

const levelsOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce<number>((most, inner) => Math.max(most, levelsOf(inner)), 0)
    : 0;

/** Throws 400 `INVALID_UPDATE` for an update of more than 1000 paths. */
export const requireFewPaths = (paths: readonly string[]): void => {
  if (paths.length > maxPaths) {
    throw invalidUpdate(
      `The update sets ${paths.length} fields; one update can set at most ${maxPaths}. Set whole objects.`,
    );
  }
};

/** Throws for a path that MongoDB reads differently or cannot store: empty and `$` segments, more than 64 levels. */
export const requirePath = (path: string, value: unknown): void => {
  const segments = path.split('.');
  if (segments.includes('')) throw invalidUpdate(`"${shownPath(path)}" has an empty name between its dots.`);
  if (segments.some((segment) => segment.startsWith('$'))) {
    throw invalidUpdate(`"${shownPath(path)}" has a name that begins with $. Name fields and positions only.`);
  }
  const unsafe = segments.find((segment) => forbiddenKeys.has(segment));
  if (unsafe) throw invalidUpdate(`"${shownPath(path)}": a field may not be named ${unsafe}.`);
  if (segments.length > 1 && segments.length + levelsOf(value) > maxDepth) {
    throw invalidUpdate(`"${shownPath(path)}" is nested more than ${maxDepth} levels deep.`);
  }
};

/** Throws 400 `INVALID_UPDATE` for paths that are named twice or lie inside one another. */
export const requireDisjoint = (paths: readonly string[]): void => {
  const seen = new Set<string>();
  for (const path of paths) {
    if (seen.has(path)) throw invalidUpdate(`"${shownPath(path)}" is changed twice. Name it once.`);
    seen.add(path);
  }
  touchedPaths(paths);
};

/** Every path and every path above it. Throws for two paths of which one lies inside the other. */
const touchedPaths = (paths: readonly string[]): ReadonlySet<string> => {
  const set = new Set(paths);
  const touched = new Set(paths);
  for (const path of paths) {
    for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
      const above = path.slice(0, dot);
      if (set.has(above)) {
        throw invalidUpdate(
          `"${shownPath(above)}" and "${shownPath(path)}" cannot be set at the same time: one contains the other.`,
        );
      }
      touched.add(above);
    }
  }
  return touched;
};

/** Throws 400 `INVALID_UPDATE` for a path that leads through a scalar of the schema, or through an Array by a name. */
export const requireEntrances = (fields: readonly Field[], path: string): void => {
  const [first = '', ...rest] = path.split('.');
  let above = first;
  for (const segment of rest) {
    const at = fieldAt(fields, above);
    if (at) requireEntrance(at, above, segment);
    above += `.${segment}`;
  }
};

/** The schema of a segment below another. Throws if nothing there can be set. */
const requireEntrance = (at: ValueType, above: string, segment: string): void => {
  if (at.type === 'Array') {
    if (!isPosition(segment))
      throw invalidUpdate(`"${shownPath(above)}" is an Array: "${shownPath(segment)}" is not a position in it.`);
  } else if (at.type !== 'Object') {
    throw invalidUpdate(`"${shownPath(above)}" is ${withArticle(at.type)}, so nothing can be set inside it.`);
  }
};

/** The lowest of the consecutive positions up to the highest: an array of this length has no gap. */
const neededLength = (positions: ReadonlySet<number>): number => {
  let length = positions.values().reduce((most, position) => Math.max(most, position));
  while (positions.has(length - 1)) length -= 1;
  return length;
};

/**
 * The guards for setting paths, derived from the schema along each path. Throws 400 `INVALID_UPDATE` for a path
 * through a scalar of the schema, or for more than 500 guards.
 */
export const guardsOf = (fields: readonly Field[], paths: readonly string[]): readonly Guard[] => {
  const touched = touchedPaths(paths);
  const guards = new Map<string, Guard>();
  const positions = new Map<string, Set<number>>();
  for (const path of paths) {
    const segments = path.split('.');
    let above = segments[0] ?? '';
    for (const segment of segments.slice(1)) {
      const at = fieldAt(fields, above);
      if (at) requireEntrance(at, above, segment);
      if (at?.type === 'Array') guards.set(`array ${above}`, mustBeArray(above));
      const missing = at?.fields?.find(({ key, required }) => required && !touched.has(`${above}.${key}`));
      if (missing) guards.set(`object ${above}`, mustBeObject(above, missing.key));
      if (/^0\d+$/.test(segment)) guards.set(`name ${above}`, mustNotBeArray(above, segment));
      else if (isPosition(segment) && Number(segment) <= maxPosition)
        positions.set(above, (positions.get(above) ?? new Set()).add(Number(segment)));
      above += `.${segment}`;
    }
  }
  for (const [above, set] of positions) {
    const length = neededLength(set);
    if (length > 0) guards.set(`length ${above}`, mustReach(above, length));
  }
  if (guards.size > maxGuards)
    throw invalidUpdate('The update sets too many single elements. Set whole arrays or objects.');
  return [...guards.values()];
};

/** An array in which an update sets single elements, or something inside them. */
interface Touched {
  readonly path: string;
  readonly at: ValueType;
  readonly position: number;
}

const touchedBy = (fields: readonly Field[], path: string): readonly Touched[] => {
  const segments = path.split('.');
  return segments.flatMap((segment, index) => {
    if (index === 0 || !isPosition(segment)) return [];
    const above = segments.slice(0, index).join('.');
    const at = fieldAt(fields, above);
    return at?.type === 'Array' ? [{ path: above, at, position: Number(segment) }] : [];
  });
};

const unique = { uniqueItems: true } as const;

const broken = (path: string, message: string): AppError =>
  validationFailed({ field: path, message: `${path} ${message}` });

/** MongoDB cannot compare the elements. So the document is read, and the write requires that its array is unchanged. */
const mustStayUnique = ({ path }: Touched, applied: (document: Document) => unknown): Guard => ({
  filter: { [path]: { $in: [] } },
  filterFor: (document) => ({ [path]: { $eq: valueAt(document, path) ?? null } }),
  refusal: (document) => {
    const array = valueAt(applied(document) as Document, path);
    const message = Array.isArray(array) ? brokenBound(unique, array) : undefined;
    return message === undefined ? undefined : broken(path, message);
  },
});

/**
 * The guards that keep arrays within their bounds if an update sets elements of them. Throws 400 `VALIDATION_FAILED`
 * for an element beyond `maxItems`. `applied` computes the result of the update.
 */
export const arrayGuards = (
  fields: readonly Field[],
  set: JsonObject,
  applied: (document: Document) => unknown,
): readonly Guard[] => {
  const guards = new Map<string, Guard>();
  for (const path of Object.keys(set)) {
    if (!path.includes('.')) continue;
    for (const touched of touchedBy(fields, path)) {
      const { maxItems = Number.POSITIVE_INFINITY } = touched.at;
      if (touched.position >= maxItems) throw broken(touched.path, boundMessage(touched.at, 'maxItems'));
      if (touched.at.uniqueItems) guards.set(touched.path, mustStayUnique(touched, applied));
    }
  }
  return [...guards.values()];
};
