import type { Collection } from '../../collections/collection.ts';
import type { JsonObject } from '../document.ts';

/** A collection that documents are read from; `readFilter` is there where the caller may not read all of them. */
export interface Source {
  readonly collection: Collection;
  readonly readFilter: JsonObject | undefined;
}

/** What a pipeline reads: the collection it runs on, and those it joins by name. */
export interface Sources {
  readonly main: Source;
  readonly joined: ReadonlyMap<string, Source>;
  readonly includeDeleted: boolean;
}

/** Both conditions, ours first. */
export const both = (ours: JsonObject | undefined, theirs: JsonObject): JsonObject => {
  if (!ours) return theirs;
  return Object.keys(theirs).length === 0 ? ours : { $and: [ours, theirs] };
};
