import type { Project } from '../projects/project.ts';
import type { Collection } from './collection.ts';
import { collectionBytes, collectionCache } from './collection-cache.ts';
import { toCollection } from './collection-record.ts';
import { activeIn, collectionRecords, requireRecord } from './control-collections.ts';

interface Found {
  readonly collections: ReadonlyMap<string, Collection>;
  readonly projectId: string;
  /** How many names were asked for. */
  readonly wanted: number;
}

const cache = collectionCache<Found>({
  isMiss: ({ collections, wanted }) => collections.size < wanted,
  bytesOf: ({ collections }) => collections.values().reduce((sum, collection) => sum + collectionBytes(collection), 0),
  projectIdOf: ({ projectId }) => projectId,
});

/**
 * The active collections of a project among `names`, by exact name; a name that is not in the answer is not registered.
 * One query at most every 5 s for the same set of names, every half second where some are not there; no query for none.
 */
export const findCollections = async (
  project: Project,
  names: readonly string[],
): Promise<ReadonlyMap<string, Collection>> => {
  const wanted = [...new Set(names)].sort();
  if (wanted.length === 0) return new Map();
  const { collections } = await cache.get(JSON.stringify([project.id, ...wanted]), async () => {
    const found = await collectionRecords.find({ ...activeIn(project), name: { $in: wanted } });
    return {
      collections: new Map(found.map((record) => [record.name, toCollection(record)])),
      projectId: project.id,
      wanted: wanted.length,
    };
  });
  return collections;
};

/** One of them as it is now; not registered → 404 `COLLECTION_NOT_FOUND`. */
export const loadCollection = async (project: Project, name: string): Promise<Collection> =>
  toCollection(await requireRecord(project, name));

/** The same, which may be 5 s old; what was not there is looked for again, as it may have been made since. */
export const requireCollection = async (project: Project, name: string): Promise<Collection> =>
  (await findCollections(project, [name])).get(name) ?? loadCollection(project, name);
