import { ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { AppError, statusOf } from '../../core/errors.ts';
import { describeError, log } from '../../core/log.ts';
import { newId } from '../../core/new-id.ts';
import { type AuditedChange, onAuditEntries } from './audit-record.ts';
import { boundedChange } from './bounded-change.ts';

const begin = async (change: AuditedChange): Promise<ObjectId> => {
  const { projectId, developerId, tokenId, ...what } = boundedChange(change);
  const _id = newId();
  await onAuditEntries((entries) =>
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
const settle = async (entry: ObjectId, write: () => Promise<unknown>): Promise<void> => {
  try {
    await write();
  } catch (error) {
    log.error({ message: 'An audit entry stays unsettled', entry: entry.toHexString(), error: describeError(error) });
  }
};

const isRefusal = (error: unknown): boolean => error instanceof AppError && statusOf[error.code] < 500;

/**
 * Runs a change and records it in the project's audit trail (contract 6, "Audit trail"). The entry is written first: if
 * that fails → 503 and nothing is changed. A refusal (4xx) removes the entry; any other failure leaves it as `unknown`.
 */
export const audited = async <T>(change: AuditedChange, act: () => Promise<T>): Promise<T> => {
  const _id = await begin(change);
  let result: T;
  try {
    result = await act();
  } catch (error) {
    if (isRefusal(error)) await settle(_id, () => onAuditEntries((entries) => entries.deleteOne({ _id })));
    throw error;
  }
  await settle(_id, () => onAuditEntries((entries) => entries.updateOne({ _id }, { $set: { outcome: 'done' } })));
  return result;
};
