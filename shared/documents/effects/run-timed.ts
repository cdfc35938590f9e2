import type { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { dueFields, ranField, seenField } from '../../collections/effects/effect.ts';
import { clock } from '../../core/clock.ts';
import { mapConcurrent } from '../../core/concurrency.ts';
import { isClientError } from '../../core/errors.ts';
import { logFailure } from '../../core/log.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { Project } from '../../projects/project.ts';
import { isHooked, wakeWebhookWorker } from '../../webhooks/events.ts';
import { effectsOf, type KnownEffects } from '../access/rules-of.ts';
import { runTimedEffect } from '../store/timed-effect.ts';
import { pauseMs, type TimedEffect, timedEffects } from '../store/timed-run.ts';

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
export const runTimedEffects = async (project: Project, collection: Collection, end: number): Promise<boolean> => {
  if (dueFields(collection).length === 0) return true;
  const all = await knownEffects(project, collection);
  if (!all) return true;
  const ended: Ended[] = [];
  for (const each of timedEffects(project, collection, all)) ended.push(await runAll(each, end));
  const isFound = ended.some(({ found }) => found > 0);
  if (isFound && collection.feed?.on && isHooked(project, 'document')) await wakeWebhookWorker(project.id);
  return ended.every(({ isDone }) => isDone);
};
