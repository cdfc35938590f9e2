import {
  activeIn,
  type CollectionRecord,
  collectionRecords,
  toCollection,
} from '../../collections/collection-record.ts';
import { sendsMail } from '../../collections/effects/effect.ts';
import { clock } from '../../core/clock.ts';
import { type RecordJob, workThroughRecords } from '../../persistence/jobs.ts';
import { acquire, changeHeld, type Leased, leaseOf } from '../../persistence/lease.ts';
import { findProjectById } from '../../projects/find-project.ts';
import { queueMails } from './queue-mails.ts';
import { runTimedEffects } from './run-timed.ts';

/**
 * Longer than a run. If a run fails, for example because a customer's database is down, the next one starts after
 * this time.
 */
const leaseMs = 120_000;

/** A run starts no new work after this time. Together with the schedule's limit it is less than a minute. */
const runMs = 25_000;

/** One run at a time works on a collection. */
const leasedEffects: Leased<CollectionRecord> = {
  records: collectionRecords,
  lease: 'effectsDueAt',
  while: ['state', 'effectsAsked'],
};

const inMs = (ms: number): Date => new Date(clock.now() + ms);

/** Does the pending work of effects in a collection. Returns whether everything is done. */
const workOn = async (record: CollectionRecord, end: number): Promise<boolean> => {
  const project = await findProjectById(record.projectId.toHexString());
  if (!project) return true;
  const collection = toCollection(record);
  const isDone = await runTimedEffects(project, collection, end);
  return (!sendsMail(collection) || (await queueMails(project, collection, end))) && isDone;
};

/** Works on a collection whose lease this run holds, and repeats if it was asked to meanwhile. */
const workHeld = async (held: CollectionRecord): Promise<void> => {
  const end = clock.now() + runMs;
  for (let record: CollectionRecord | null = held; record; ) {
    const isDone: boolean = (await workOn(record, end)) && clock.now() < end;
    const leased = isDone ? leasedEffects : { ...leasedEffects, while: [] };
    if (await changeHeld(leased, record, { $set: { effectsDueAt: new Date(clock.now()) } })) return;
    const now: CollectionRecord | null = await collectionRecords.findOne({ _id: record._id, state: 'active' });
    record = now && leaseOf(leasedEffects, now) === leaseOf(leasedEffects, record) ? now : null;
  }
};

/**
 * The task `run-effects`: does the pending work of effects in a collection. If another run works on it, that run
 * repeats its search.
 */
export const runEffects = async (projectId: string, name: string): Promise<void> => {
  const which = { ...activeIn({ id: projectId }), name: { $eq: name } };
  const asking = { $inc: { effectsAsked: 1 } };
  let held = await acquire(leasedEffects, which, inMs(leaseMs), asking);
  if (!held) {
    await collectionRecords.updateOne(which, asking);
    held = await acquire(leasedEffects, which, inMs(leaseMs), {});
  }
  if (held) await workHeld(held);
};

const dueEffects: RecordJob<CollectionRecord> = {
  ...leasedEffects,
  name: 'run-effects',
  what: 'collection',
  open: () => ({ state: 'active' }),
  quietMs: 0,
  page: 50,
  step: async ({ _id }) => {
    const held = await acquire(leasedEffects, { _id, state: 'active' }, inMs(leaseMs), {});
    if (held) await workHeld(held);
    return held !== null;
  },
  concurrency: 10,
  limitMs: 25_000,
};

/** Does the pending work of effects in all collections. Returns the number of collections. */
export const runDueEffects = async (): Promise<number> => (await workThroughRecords(dueEffects)).done;
