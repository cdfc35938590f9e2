import type { Field, ValueType } from '../../collections/collection.ts';
import { withArticle } from '../../collections/schema/field-types.ts';
import { cutText } from '../../core/bounded-text.ts';
import { forbiddenKeys, maxDepth } from '../../core/json-value.ts';
import { fieldAt, isPosition } from '../read/field-at.ts';
import type { Guard } from './guarded-write.ts';
import { invalidUpdate, mustBeArray, mustBeObject, mustNotBeArray, mustReach } from './update-guard.ts';

/** The time MongoDB takes for an update grows with its paths times the fields of the document: 20 000 take seconds. */
const maxPaths = 1000;
const maxGuards = 500;
/** MongoDB itself fills no array further. */
const maxPosition = 1_500_000;

const shown = (path: string): string => cutText(path, 200);

const levelsOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce<number>((most, inner) => Math.max(most, levelsOf(inner)), 0)
    : 0;

/** Refuses an update of more than 1000 paths (400 `INVALID_UPDATE`). */
export const requireFewPaths = (paths: readonly string[]): void => {
  if (paths.length > maxPaths) {
    throw invalidUpdate(
      `The update sets ${paths.length} fields; at most ${maxPaths} can be set at once. Set whole objects.`,
    );
  }
};

/** Refuses a path that MongoDB reads in its own way or cannot store: empty and `$` segments, more than 64 levels. */
export const requirePath = (path: string, value: unknown): void => {
  const segments = path.split('.');
  if (segments.includes('')) throw invalidUpdate(`"${shown(path)}" has an empty name between its dots.`);
  if (segments.some((segment) => segment.startsWith('$'))) {
    throw invalidUpdate(`"${shown(path)}" has a name that begins with $. Name fields and positions only.`);
  }
  const unsafe = segments.find((segment) => forbiddenKeys.has(segment));
  if (unsafe) throw invalidUpdate(`"${shown(path)}": a field may not be named ${unsafe}.`);
  if (segments.length > 1 && segments.length + levelsOf(value) > maxDepth) {
    throw invalidUpdate(`"${shown(path)}" is nested more than ${maxDepth} levels deep.`);
  }
};

/** Every path and every path above it, refusing two of which one lies inside the other. */
const touchedPaths = (paths: readonly string[]): ReadonlySet<string> => {
  const set = new Set(paths);
  const touched = new Set(paths);
  for (const path of paths) {
    for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
      const above = path.slice(0, dot);
      if (set.has(above)) {
        throw invalidUpdate(
          `"${shown(above)}" and "${shown(path)}" cannot be set at the same time: one contains the other.`,
        );
      }
      touched.add(above);
    }
  }
  return touched;
};

/** Where a segment leads from a place in the schema; throws where the schema has nothing there that can be set. */
const requireEntrance = (at: ValueType, above: string, segment: string): void => {
  if (at.type === 'Array') {
    if (!isPosition(segment))
      throw invalidUpdate(`"${shown(above)}" is an Array: "${shown(segment)}" is no position in it.`);
  } else if (at.type !== 'Object') {
    throw invalidUpdate(`"${shown(above)}" is ${withArticle(at.type)}, so nothing can be set inside it.`);
  }
};

/** The lowest of the positions that follow each other up to the highest: with so many elements there is no gap. */
const neededLength = (positions: ReadonlySet<number>): number => {
  let length = positions.values().reduce((most, position) => Math.max(most, position));
  while (positions.has(length - 1)) length -= 1;
  return length;
};

/**
 * What a document must be like for the paths to be set, worked out from the schema on the way down each of them. A path
 * through a scalar of the schema, or more than 500 such conditions → 400 `INVALID_UPDATE`.
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
