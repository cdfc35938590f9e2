import { ObjectId } from 'mongodb';
import { clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { describeError, log, requestIdNow } from '../log.ts';
import type { Project } from '../projects/project.ts';
import { queueTask } from '../work/work-queue.ts';
import { onTransfers, type TransferRecord } from './transfer-record.ts';
import { expiry, whenLost } from './transfer-times.ts';

/** What every new transfer begins with; it is not active yet. */
export const newTransfer = (project: Project, collectionName: string) => {
  const now = new Date(clock.now());
  const requestId = requestIdNow();
  return {
    _id: new ObjectId(),
    ...(requestId !== undefined && { requestId }),
    projectId: new ObjectId(project.id),
    collectionName,
    state: 'awaiting',
    leasedUntil: new Date(0),
    dueAt: now,
    tries: 0,
    createdAt: now,
    updatedAt: now,
    expiresAt: expiry(),
  } as const;
};

/** What makes a transfer an active one that waits for its run. */
export const queued = () => ({ state: 'queued', active: true, dueAt: whenLost() }) as const;

/** The unique index on active transfers decides: one export and one import a collection at a time → 409 `TRANSFER_RUNNING`. */
export const orRunning = async <T>(write: Promise<T>): Promise<T> => {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'DUPLICATE_VALUE')) throw error;
    throw new AppError(
      'TRANSFER_RUNNING',
      'Another one is under way for this collection. Wait until it has ended, then start this one.',
      { cause: error },
    );
  }
};

/** Stores a new transfer. */
export const insertTransfer = (record: TransferRecord): Promise<unknown> =>
  orRunning(onTransfers((transfers) => transfers.insertOne(record)));

/** Has an active transfer done. Where the queue does not take it the schedule does, so it is accepted all the same. */
export const queueTransfer = ({ _id }: TransferRecord): Promise<void> =>
  queueTask({ task: 'transfer', transferId: _id.toHexString() }).catch((error: unknown) =>
    log.warn({
      message: 'A transfer waits for the schedule',
      transfer: _id.toHexString(),
      error: describeError(error),
    }),
  );
