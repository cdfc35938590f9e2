import { ObjectId } from 'mongodb';
import { onControl } from '../clients/mongo.ts';
import { forgetWhenSaved } from '../core/saved-projects.ts';
import { absenceMs, ShortCache } from '../core/short-cache.ts';
import type { Project } from '../projects/project.ts';
import type { Collection } from './collection.ts';
import { type CollectionRecord, toCollection } from './collection-record.ts';
import { collectionBytes, mostCollectionBytes } from './collection-weight.ts';

interface Found {
  readonly collections: ReadonlyMap<string, Collection>;
  readonly projectId: string;
  /** How many names were asked for. */
  readonly wanted: number;
}

const bytesOf = ({ collections }: Found): number =>
  [...collections.values()].reduce((sum, collection) => sum + collectionBytes(collection), 0);

const isMiss = ({ collections, wanted }: Found): boolean => collections.size < wanted;

const cache = new ShortCache<Found>(
  5000,
  2000,
  { isMiss, size: 500, ttlMs: absenceMs },
  { of: bytesOf, most: mostCollectionBytes },
);

forgetWhenSaved((projectId) => cache.forget((_key, found) => found.projectId === projectId));

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
  const { collections } = await cache.get(JSON.stringify([project.id, ...wanted]), () =>
    onControl(async (db) => {
      const records = await db
        .collection<CollectionRecord>('collections')
        .find({ projectId: new ObjectId(project.id), name: { $in: wanted }, state: 'active' }, { maxTimeMS: 5000 })
        .toArray();
      return {
        collections: new Map(records.map((record) => [record.name, toCollection(record)])),
        projectId: project.id,
        wanted: wanted.length,
      };
    }),
  );
  return collections;
};
