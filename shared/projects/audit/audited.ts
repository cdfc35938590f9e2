import { type Collection, ObjectId } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { AppError, statusOf } from '../../core/errors.ts';
import { describeError, log } from '../../core/log.ts';
import { newId } from '../../core/new-id.ts';
import type { AuditRecord, Change } from './audit-record.ts';
import { boundedChange } from './bounded-change.ts';

const onEntries = <T>(operation: (entries: Collection<AuditRecord>) => Promise<T>): Promise<T> =>
  onControl((db) => operation(db.collection<AuditRecord>('auditEntries')));

const begin = async (change: Change): Promise<ObjectId> => {
  const { projectId, developerId, tokenId, ...what } = boundedChange(change);
  const _id = newId();
  await onEntries((entries) =>
    entries.insertOne({
      _id,
      projectId: new ObjectId(projectId),
      at: new Date(clock.now()),
      developerId: new ObjectId(developerId),
      tokenId: tokenId === null ? null : new ObjectId(tokenId),
      ...what,
      outcome: 'unknown',
    }),
  );
  return _id;
};

/** The entry exists already: failing to set its outcome is logged, and does not fail the change. */
const settle = async (write: Promise<unknown>, entry: ObjectId): Promise<void> => {
  try {
    await write;
  } catch (error) {
    log.error({ message: 'An audit entry stays unsettled', entry: entry.toHexString(), error: describeError(error) });
  }
};

const isRefusal = (error: unknown): boolean => error instanceof AppError && statusOf[error.code] < 500;

/**
 * Runs a change and records it in the project's audit trail (contract 6, "Audit trail"). The entry is written first: if
 * that fails → 503 and nothing is changed. A refusal (4xx) removes the entry; any other failure leaves it as `unknown`.
 */
export const audited = async <T>(change: Change, act: () => Promise<T>): Promise<T> => {
  const entry = await begin(change);
  let result: T;
  try {
    result = await act();
  } catch (error) {
    if (isRefusal(error)) {
      await settle(
        onEntries((entries) => entries.deleteOne({ _id: entry })),
        entry,
      );
    }
    throw error;
  }
  await settle(
    onEntries((entries) => entries.updateOne({ _id: entry }, { $set: { outcome: 'done' } })),
    entry,
  );
  return result;
};
