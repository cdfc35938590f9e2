import { type Collection, ObjectId } from 'mongodb';
import { onControl } from '../clients/mongo.ts';
import { clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Project } from '../projects/project.ts';
import type { CollectionRecord } from './collection-record.ts';

/** How long a creation or deletion has the record to itself; one that is older was cut short, and others may finish it. */
const leaseMs = 15_000;

/** Runs an operation on `control.collections`. */
export const onCollections = <T>(operation: (collections: Collection<CollectionRecord>) => Promise<T>): Promise<T> =>
  onControl((db) => operation(db.collection<CollectionRecord>('collections')));

/** The latest `updatedAt` of records whose creation or deletion was cut short. */
export const leaseEnd = (): Date => new Date(clock.now() - leaseMs);

export const collectionNotFound = (name: string): AppError =>
  new AppError('COLLECTION_NOT_FOUND', `This project has no collection "${name.slice(0, 63)}".`);

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
