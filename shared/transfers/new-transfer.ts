import { ObjectId } from 'mongodb';
import { requireRecord } from '../collections/control-collections.ts';
import { clock } from '../core/clock.ts';
import { requestIdNow } from '../core/log.ts';
import { newId } from '../core/new-id.ts';
import type { Project } from '../projects/project.ts';
import { queueSoon } from '../work/work-queue.ts';
import { originOf } from './transfer-context.ts';
import type { TransferRecord } from './transfer-record.ts';
import { expiry, uploadExpiry, whenLost } from './transfer-times.ts';

/** What every new transfer begins with; it is not active yet. No such collection → 404 `COLLECTION_NOT_FOUND`. */
export const newTransfer = async (project: Project, collectionName: string) => {
  const collection = await requireRecord(project, collectionName);
  const now = new Date(clock.now());
  const requestId = requestIdNow();
  return {
    _id: newId(),
    ...(requestId !== undefined && { requestId }),
    projectId: new ObjectId(project.id),
    ownerId: project.ownerId,
    collectionName,
    origin: originOf(project, collection),
    state: 'awaiting',
    leasedUntil: new Date(0),
    dueAt: now,
    tries: 0,
    createdAt: now,
    updatedAt: now,
    expiresAt: uploadExpiry(now),
  } as const;
};

export const queued = () => ({ state: 'queued', active: true, dueAt: whenLost(), expiresAt: expiry() }) as const;

/** Has an active transfer done. Where the queue does not take it the schedule does, so it is accepted all the same. */
export const queueTransfer = ({ _id }: Pick<TransferRecord, '_id'>): Promise<boolean> =>
  queueSoon({ task: 'transfer', transferId: _id.toHexString() });
