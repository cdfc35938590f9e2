import { clock } from '../core/clock.ts';
import { type OwnerFacts, withOwner } from '../projects/find-project.ts';
import {
  hashApiKey,
  type KeyKind,
  kindOfKey,
  type Project,
  type ProjectRecord,
  projectRecords,
  toProject,
} from '../projects/project.ts';
import type { Collection } from './collection.ts';
import { type CollectionRecord, toCollection } from './collection-record.ts';
import { collectionBytes, collectionCache } from './find-collections.ts';
import { isCollectionName } from './names.ts';

export interface KeyMatch {
  readonly project: Project;
  readonly kind: KeyKind;
  readonly collection: Collection | undefined;
}

interface Found extends KeyMatch {
  /** '' for none. */
  readonly asked: string;
  readonly expiresAt: Date | null;
}

type Row = ProjectRecord & OwnerFacts & { readonly collection: readonly CollectionRecord[] };

const bytesOf = ({ project, collection }: Found): number =>
  project.allowedDomains.join().length + (collection ? collectionBytes(collection) : 0);

const cache = collectionCache<Found | undefined>({
  isMiss: (found) => found === undefined || (found.asked !== '' && !found.collection),
  bytesOf: (found) => (found ? bytesOf(found) : 0),
  projectIdOf: (found) => found?.project.id,
});

const find = async (hash: string, kind: KeyKind, collectionName: string): Promise<Found | undefined> => {
  const [row] = await projectRecords.aggregate<Row>([
    { $match: { 'keys.hash': hash, state: 'active' } },
    ...withOwner,
    {
      $lookup: {
        from: 'collections',
        localField: '_id',
        foreignField: 'projectId',
        pipeline: [{ $match: { name: collectionName, state: 'active' } }],
        as: 'collection',
      },
    },
    { $unset: ['members', 'invitations'] },
  ]);
  const key = row?.keys.find((candidate) => candidate.hash === hash);
  if (!row || !key || key.kind !== kind) return undefined;
  const [record] = row.collection;
  return {
    project: toProject(row),
    kind,
    collection: record && toCollection(record),
    asked: collectionName,
    expiresAt: key.expiresAt,
  };
};

/**
 * Returns the project of a key and, unless '', a collection: one aggregation at most every 5 s. `undefined` for
 * unknown, revoked and expired keys.
 */
export const findProjectByKey = async (key: string, collectionName: string): Promise<KeyMatch | undefined> => {
  const kind = kindOfKey(key);
  if (!kind) return undefined;
  const name = isCollectionName(collectionName) ? collectionName : '';
  const hash = hashApiKey(key);
  const found = await cache.get(`${hash}\n${name}`, () => find(hash, kind, name));
  if (!found || (found.expiresAt && found.expiresAt.getTime() <= clock.now())) return undefined;
  return found;
};

/** For tests. */
export const forgetProjects = (): void => cache.clear();
