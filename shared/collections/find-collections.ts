import { ObjectId } from 'mongodb';
import { onControl } from '../clients/mongo.ts';
import type { Project } from '../projects/project.ts';
import { ShortCache } from '../short-cache.ts';
import type { Collection } from './collection.ts';
import { type CollectionRecord, toCollection } from './collection-record.ts';
import { collectionBytes, mostCollectionBytes } from './collection-weight.ts';

const bytesOf = (found: ReadonlyMap<string, Collection>): number =>
  [...found.values()].reduce((sum, collection) => sum + collectionBytes(collection), 0);

const cache = new ShortCache<ReadonlyMap<string, Collection>>(5000, 2000, undefined, {
  of: bytesOf,
  most: mostCollectionBytes,
});

/**
 * The active collections of a project among `names`, by exact name; a name that is not in the answer is not registered.
 * One query at most every 5 s for the same set of names; no query for none.
 */
export const findCollections = async (
  project: Project,
  names: readonly string[],
): Promise<ReadonlyMap<string, Collection>> => {
  const wanted = [...new Set(names)].sort();
  if (wanted.length === 0) return new Map();
  return cache.get(JSON.stringify([project.id, ...wanted]), () =>
    onControl(async (db) => {
      const records = await db
        .collection<CollectionRecord>('collections')
        .find({ projectId: new ObjectId(project.id), name: { $in: wanted }, state: 'active' }, { maxTimeMS: 5000 })
        .toArray();
      return new Map(records.map((record) => [record.name, toCollection(record)]));
    }),
  );
};
