import type { IndexDescription } from 'mongodb';
import { onControl } from '../clients/mongo.ts';
import { developerIndexes } from '../developers/developer-record.ts';
import { mailJobIndexes } from '../mail/mail-job.ts';

/** A project that is being deleted holds no slot, so that its owner can make another at once. */
const projectIndexes: readonly IndexDescription[] = [
  { key: { 'keys.hash': 1 }, name: 'key', unique: true },
  { key: { ownerId: 1, slot: 1 }, name: 'slot', unique: true, partialFilterExpression: { state: 'active' } },
  { key: { deletingSince: 1 }, name: 'deleting', partialFilterExpression: { state: 'deleting' } },
];

const collectionIndexes: readonly IndexDescription[] = [
  { key: { projectId: 1, nameKey: 1 }, name: 'nameKey', unique: true },
  { key: { projectId: 1, slot: 1 }, name: 'slot', unique: true },
  { key: { projectId: 1, name: 1 }, name: 'name' },
  { key: { state: 1, updatedAt: 1 }, name: 'state' },
];

/**
 * Makes every index of the control database; those that stand are left as they are. The unique ones decide between parallel
 * callers (keys, addresses, names, plan limits), so this runs before anything is served.
 */
export const ensureControlIndexes = (): Promise<void> =>
  onControl(async (db) => {
    await db.collection('developers').createIndexes([...developerIndexes]);
    await db.collection('projects').createIndexes([...projectIndexes]);
    await db.collection('collections').createIndexes([...collectionIndexes]);
    await db.collection('mailJobs').createIndexes([...mailJobIndexes]);
  });
