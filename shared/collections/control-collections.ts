import { type Collection, type Filter, ObjectId } from 'mongodb';
import { onControl } from '../clients/mongo.ts';
import { clock } from '../core/clock.ts';
import type { Project } from '../projects/project.ts';
import type { Leased } from '../work/lease.ts';
import { collectionNotFound } from './collection-not-found.ts';
import type { CollectionRecord, CollectionState } from './collection-record.ts';

type Passing = Exclude<CollectionState, 'active'>;

/**
 * How long a record belongs to the caller that set its state. A creation or deletion may continue in the database after
 * its caller gave up; after this time it counts as interrupted, and others finish it. `dropped`: longer than any
 * function keeps a collection cached.
 */
const leaseMs: Readonly<Record<Passing, number>> = { creating: 16_000, deleting: 120_000, dropped: 12 * 60_000 };

/** Runs an operation on `control.collections`. */
export const onCollections = <T>(operation: (collections: Collection<CollectionRecord>) => Promise<T>): Promise<T> =>
  onControl((db) => operation(db.collection<CollectionRecord>('collections')));

/** The lease of a record begins with its `updatedAt`; how long it lasts is up to its state. */
export const leasedCollections: Leased<CollectionRecord> = { on: onCollections, lease: 'updatedAt', while: ['state'] };

/** The latest `updatedAt` of records in a state whose lease has expired. */
export const leaseEnd = (state: Passing): Date => new Date(clock.now() - leaseMs[state]);

/** Matches the records that are to be removed: cut short, or dropped long enough ago. */
export const dueForRemoval = (): Filter<CollectionRecord> => ({
  $or: (['creating', 'deleting', 'dropped'] as const).map((state) => ({ state, updatedAt: { $lte: leaseEnd(state) } })),
});

/** The record of an active collection by its exact name, read now; none → 404 `COLLECTION_NOT_FOUND`. */
export const requireRecord = async (project: Project, name: string): Promise<CollectionRecord> => {
  const record = await onCollections((collections) =>
    collections.findOne(
      { projectId: new ObjectId(project.id), name: { $eq: name }, state: 'active' },
      { maxTimeMS: 5000 },
    ),
  );
  if (!record) throw collectionNotFound(name);
  return record;
};
