import { type Filter, type FindOptions, ObjectId } from 'mongodb';
import { inControl } from '../clients/mongo.ts';
import { cutText } from '../core/bounded-text.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Project } from '../projects/project.ts';
import type { Leased } from '../work/lease.ts';
import type { Collection } from './collection.ts';
import { type CollectionRecord, type CollectionState, toCollection } from './collection-record.ts';

type Passing = Exclude<CollectionState, 'active'>;

/**
 * How long a record belongs to the caller that set its state. A creation or deletion may continue in the database after
 * its caller gave up; after this time it counts as interrupted, and others finish it. `dropped`: longer than any
 * function keeps a collection cached.
 */
const leaseMs: Readonly<Record<Passing, number>> = { creating: 16_000, deleting: 120_000, dropped: 12 * 60_000 };

export const collectionRecords = inControl<CollectionRecord>('collections');

/** The lease of a record begins with its `updatedAt`; how long it lasts is up to its state. */
export const leasedCollections: Leased<CollectionRecord> = {
  records: collectionRecords,
  lease: 'updatedAt',
  while: ['state'],
};

/** The latest `updatedAt` of records in a state whose lease has expired. */
export const leaseEnd = (state: Passing): Date => new Date(clock.now() - leaseMs[state]);

/** Matches the records that are to be removed: cut short, or dropped long enough ago. */
export const dueForRemoval = (): Filter<CollectionRecord> => ({
  $or: (['creating', 'deleting', 'dropped'] as const).map((state) => ({ state, updatedAt: { $lte: leaseEnd(state) } })),
});

export const activeIn = ({ id }: Pick<Project, 'id'>) => ({ projectId: new ObjectId(id), state: 'active' }) as const;

export const activeRecords = (project: Project, options: FindOptions): Promise<CollectionRecord[]> =>
  collectionRecords.find(activeIn(project), options);

/** Every active collection of a project, read now, as the data plane sees them. */
export const activeCollections = async (project: Project): Promise<readonly Collection[]> =>
  (await activeRecords(project, { projection: { name: 1, schema: 1, rls: 1, searchLanguage: 1 } })).map(toCollection);

/** The refusal of a collection that is not registered (404); `name` is cut at 63 characters. */
export const collectionNotFound = (name: string): AppError =>
  new AppError(
    'COLLECTION_NOT_FOUND',
    `This project has no collection "${cutText(name, 63)}", with exactly these letters. ` +
      'Collections are made on the dashboard API: POST /api/projects/:projectId/collections.',
  );

/** The record of an active collection by its exact name, read now; none → 404 `COLLECTION_NOT_FOUND`. */
export const requireRecord = async (project: Project, name: string): Promise<CollectionRecord> => {
  const record = await collectionRecords.findOne({ ...activeIn(project), name: { $eq: name } });
  if (!record) throw collectionNotFound(name);
  return record;
};
