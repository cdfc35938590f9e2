import { setTimeout as sleep } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/new-id.ts';
import { unlessTaken, untilWritten } from '../../core/until-written.ts';
import { plans } from '../../projects/plans.ts';
import type { Project } from '../../projects/project.ts';
import { freeSlot } from '../../projects/slots.ts';
import type { Collection } from '../collection.ts';
import type { CollectionRecord } from '../collection-record.ts';
import { collectionRecords, leaseEnd } from '../control-collections.ts';
import { takeOverDeletion } from './delete-collection.ts';

/** How long a creation waits for a deletion of the same name that is under way. */
const patienceMs = 3000;
const pauseMs = 100;

const limitReached = ({ plan }: Project): AppError =>
  new AppError(
    'PLAN_LIMIT',
    `The ${plan} plan allows ${plans[plan].collections} collections in a project. Delete one, or ask the operator of this service for a larger plan.`,
  );

const whatIsTaken = ({ name, state }: CollectionRecord): string => {
  if (state === 'creating') return `A collection "${name}" is just being created. Try again in a moment.`;
  if (state === 'deleting') return `The collection "${name}" is still being deleted. Try again in a few minutes.`;
  return `This project already has a collection "${name}"; upper and lower case do not differ.`;
};

const alreadyExists = (record: CollectionRecord): AppError => new AppError('COLLECTION_EXISTS', whatIsTaken(record));

const recordsOf = (project: Project): Promise<CollectionRecord[]> =>
  collectionRecords.find(
    { projectId: new ObjectId(project.id) },
    { projection: { schema: 0, indexes: 0 }, sort: { slot: 1 } },
  );

const insert = async (record: CollectionRecord): Promise<CollectionRecord | null> => {
  const inserted = collectionRecords.insertOne(record);
  return (await unlessTaken(inserted, () => null)) && record;
};

const attempt = async (project: Project, wanted: Collection, waitUntil: number): Promise<CollectionRecord | null> => {
  const records = await recordsOf(project);
  const nameKey = wanted.name.toLowerCase();
  const now = new Date(clock.now());
  const same = records.find((record) => record.nameKey === nameKey);
  if (same?.state === 'active') throw alreadyExists(same);
  if (same?.state === 'creating' && same.updatedAt > leaseEnd('creating')) throw alreadyExists(same);
  if (same?.state === 'deleting' && same.updatedAt > leaseEnd('deleting')) {
    if (performance.now() >= waitUntil) throw alreadyExists(same);
    await sleep(pauseMs);
    return null;
  }
  const slot = freeSlot(
    records.flatMap((record) => (typeof record.slot === 'number' && record !== same ? record.slot : [])),
    plans[project.plan].collections,
  );
  if (slot === undefined) throw limitReached(project);
  if (same) {
    await takeOverDeletion(project, same);
    return null;
  }
  const projectId = new ObjectId(project.id);
  return insert({
    _id: newId(),
    projectId,
    slot,
    state: 'creating',
    nameKey,
    ...wanted,
    createdAt: now,
    updatedAt: now,
  });
};

/**
 * Reserves a name and a place for a new collection: a record in state `creating`, decided by unique indexes. The name
 * taken in any case → 409 `COLLECTION_EXISTS`; over the plan's collections → 403 `PLAN_LIMIT`; both exact under
 * parallel calls.
 */
export const reserveCollection = (project: Project, wanted: Collection): Promise<CollectionRecord> => {
  const waitUntil = performance.now() + patienceMs;
  return untilWritten('Too many collections are being made at once. Please try again.', () =>
    attempt(project, wanted, waitUntil),
  );
};
