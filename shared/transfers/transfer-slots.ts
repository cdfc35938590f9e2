import { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { unlessTaken, untilWritten } from '../core/until-written.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import { insertInSlot } from '../projects/slots.ts';
import { type TransferRecord, transferRecords } from './transfer-record.ts';

const transferRunning = (cause?: unknown): AppError =>
  new AppError(
    'TRANSFER_RUNNING',
    'Another one is under way for this collection. Wait until it has ended, then start this one.',
    { cause },
  );

/** A unique index decides: one active export and one import a collection at a time → 409 `TRANSFER_RUNNING`. */
export const orRunning = <T>(write: Promise<T>): Promise<T> =>
  unlessTaken(write, (error) => {
    throw transferRunning(error);
  });

type Unended = Pick<TransferRecord, '_id' | 'kind' | 'collectionName' | 'active' | 'slot' | 'expiresAt'>;

const shown = { kind: 1, collectionName: 1, active: 1, slot: 1, expiresAt: 1 } as const;

/** Those of a project that have not ended; an import whose file nobody uploaded in time gives its slot back first. */
const unendedOf = async (project: Project): Promise<readonly Unended[]> => {
  const projectId = new ObjectId(project.id);
  const unended = [{ slot: { $exists: true } }, { active: true as const }].map((state) => ({ projectId, ...state }));
  const records = await transferRecords.find({ $or: unended }, { projection: shown });
  const now = new Date(clock.now());
  const outlived = records.filter(({ expiresAt }) => expiresAt <= now);
  if (outlived.length === 0) return records;
  const chosen = { _id: { $in: outlived.map(({ _id }) => _id) }, expiresAt: { $lte: now } };
  await transferRecords.updateMany(chosen, { $unset: { slot: '', active: '' } });
  return records.filter((record) => !outlived.includes(record));
};

/** `null` where another caller took the slot. */
const attempt = async (project: Project, record: TransferRecord): Promise<unknown> => {
  const others = await unendedOf(project);
  // The insert was made, but its answer was lost and the driver sent it again.
  if (others.some(({ _id }) => _id.equals(record._id))) return true;
  const isSame = ({ active, kind, collectionName }: Unended) =>
    active === true && kind === record.kind && collectionName === record.collectionName;
  if (record.active && others.some(isSame)) throw transferRunning();
  const { transfers: limit } = plans[project.plan];
  const what = `The ${project.plan} plan allows ${limit} exports and imports of a project at a time, those included that wait for their file. Wait until one has ended, or cancel one.`;
  return insertInSlot(transferRecords, record, others, limit, () => new AppError('PLAN_LIMIT', what));
};

/**
 * Stores a new transfer. An active one of its kind and collection → 409 `TRANSFER_RUNNING`; as many as the plan allows
 * → 403 `PLAN_LIMIT`; both decided by unique indexes and so exact under parallel calls.
 */
export const insertTransfer = async (project: Project, record: TransferRecord): Promise<void> => {
  await untilWritten('Too many exports and imports are being started at once. Try again.', () =>
    attempt(project, record),
  );
};
