import { forgetWhenSaved } from '../core/saved-projects.ts';
import { absenceMs, ShortCache } from '../core/short-cache.ts';
import { allFields, type Collection } from './collection.ts';

/** About what a parsed field takes of memory, in bytes, besides its texts. */
const fieldBytes = 150;

/** How many bytes of collections one cache of a process may remember. */
const maxBytes = 24 * 1024 * 1024;

/** About how many bytes of memory a collection takes that a process remembers: nearly all of it is the schema. */
export const collectionBytes = ({ schema }: Collection): number =>
  allFields(schema ?? []).reduce((sum, field) => sum + fieldBytes + String(field.default ?? '').length, fieldBytes);

/** What a cache has to know of the answers that it remembers. */
interface Remembered<T> {
  readonly isMiss: (found: T) => boolean;
  readonly bytesOf: (found: T) => number;
  readonly projectIdOf: (found: T) => string | undefined;
}

/**
 * A cache of projects and collections. Settings take effect within 5 s everywhere (contract 1), so nothing is kept for
 * longer, and that something does not exist for half a second. Misses are cached separately, so that a flood of
 * invented keys and names does not evict what exists. What this process saves of a project is forgotten at once.
 */
export const collectionCache = <T>({ isMiss, bytesOf, projectIdOf }: Remembered<T>): ShortCache<T> => {
  const misses = { isMiss, size: 500, ttlMs: absenceMs };
  const cache = new ShortCache<T>(5000, 2000, misses, { of: bytesOf, most: maxBytes });
  forgetWhenSaved((projectId) => cache.forget((_key, found) => projectIdOf(found) === projectId));
  return cache;
};
