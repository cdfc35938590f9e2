import type { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import {
  activeIn,
  type CollectionRecord,
  collectionRecords,
  toCollection,
} from '../../collections/collection-record.ts';
import { dueFields, ranField, seenField, sendsMail } from '../../collections/effects/effect.ts';
import { clock } from '../../core/clock.ts';
import { mapConcurrent } from '../../core/concurrency.ts';
import { isClientError } from '../../core/errors.ts';
import { logFailure } from '../../core/log.ts';
import { type RecordJob, workThroughRecords } from '../../persistence/jobs.ts';
import { acquire, changeHeld, type Leased, leaseOf } from '../../persistence/lease.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { findProjectById } from '../../projects/find-project.ts';
import type { Project } from '../../projects/project.ts';
import { isHooked, wakeWebhookWorker } from '../../webhooks/events.ts';
import { effectsOf, type KnownEffects } from '../access/rules-of.ts';
import { runTimedEffect } from '../store/timed-effect.ts';
import { pauseMs, type TimedEffect, timedEffects } from '../store/timed-run.ts';
import { queueMails } from './queue-mails.ts';

const pageSize = 100;
const concurrency = 4;
const maxBusy = 1000;

/**
 * The documents whose date is due and that the effect has not handled since their last change, the oldest date first.
 */
const findDue = async (
  { project, collection, due: { path, mark } }: TimedEffect,
  busy: readonly ObjectId[],
): Promise<readonly ObjectId[]> => {
  const now = clock.now();
  const due = {
    [`${seenField}.${mark}`]: null,
    [path]: { $lte: new Date(now), $exists: true },
    [`${ranField}.${mark}.at`]: { $not: { $gt: new Date(now - pauseMs) } },
    // Documents that another program stored under other ids cannot be written.
    _id: { $type: 'objectId' as const, ...(busy.length > 0 && { $nin: busy }) },
  };
  const options = { sort: { [path]: 1 }, limit: pageSize, projection: { _id: 1 }, maxTimeMS } as const;
  const found = await onProject(project, (db) => db.collection(collection.name).find(due, options).toArray());
  return found.map(({ _id }) => _id);
};

interface Ended {
  /** Documents that were found. */
  readonly found: number;
  /** False if `end` came before the last one. */
  readonly isDone: boolean;
}

const runAll = async (timed: TimedEffect, end: number): Promise<Ended> => {
  /**
   * Documents that other requests keep changing wait for the next run. All others are marked, so they are not found
   * again.
   */
  const busy: ObjectId[] = [];
  for (let found = 0; ; ) {
    const ids = await findDue(timed, busy);
    found += ids.length;
    let late = 0;
    await mapConcurrent(ids, concurrency, async (_id) => {
      if (clock.now() >= end) late += 1;
      else if (!(await runTimedEffect(timed, _id))) busy.push(_id);
    });
    if (late > 0) return { found, isDone: false };
    if (ids.length < pageSize || busy.length >= maxBusy) return { found, isDone: true };
  }
};

const knownEffects = async (project: Project, collection: Collection): Promise<KnownEffects | undefined> => {
  try {
    return await effectsOf(project, collection);
  } catch (error) {
    if (!isClientError(error)) throw error;
    // A field or collection that the effect names is being changed. The next run knows its new state.
    logFailure({ job: 'run-effects', project: project.id, collection: collection.name }, error);
    return undefined;
  }
};

/**
 * Runs the effects of a collection whose time has come, until `end` (ms). One conditional write of the document
 * decides each, so several runs do no harm. Without such effects it sends no command. Returns whether all ran.
 */
const runTimedEffects = async (project: Project, collection: Collection, end: number): Promise<boolean> => {
  if (dueFields(collection).length === 0) return true;
  const all = await knownEffects(project, collection);
  if (!all) return true;
  const ended: Ended[] = [];
  for (const each of timedEffects(project, collection, all)) ended.push(await runAll(each, end));
  const isFound = ended.some(({ found }) => found > 0);
  if (isFound && collection.feed?.on && isHooked(project, 'document')) await wakeWebhookWorker(project.id);
  return ended.every(({ isDone }) => isDone);
};

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
export const runCollectionEffects = async (projectId: string, name: string): Promise<void> => {
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
