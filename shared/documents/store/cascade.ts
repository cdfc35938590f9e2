import type { Document as MongoDocument, ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { onCollection } from '../../collections/find-collections.ts';
import { clock } from '../../core/clock.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { Project } from '../../projects/project.ts';
import { isHooked, wakeWebhookWorker } from '../../webhooks/events.ts';
import type { Document } from '../document.ts';
import { allOf, type Condition } from '../query/condition.ts';
import {
  type CascadeRecord,
  cascadeRecords,
  type Follower,
  followersOf,
  isFollowed,
  mayBeFollowed,
  mayHaveFiles,
  noteRemoval,
  type Removed,
} from './cascade-records.ts';
import { referring, removalsOf, writeFollowers } from './cascade-writes.ts';

/** The number of documents that one step reads and writes. Memory holds their ids and revisions. */
const batchSize = 1000;

/** The number of removed documents per search for followers, because each command lists all of them. */
const removedAtOnce = 100;

/** Documents that cannot follow are skipped, up to this many per reference. */
const maxStuck = 10 * batchSize;

/** The task looks again after this time. */
const againMs = 60_000;

/** A run that follows removals. */
export interface CascadeRun {
  readonly project: Project;
  /** How many more documents may follow. */
  left: number;
  /** No document follows after this time, in ms since 1970. */
  readonly end: number;
  readonly startedAt: number;
  /** Removals that were followed completely, and those with documents left. */
  readonly done: CascadeRecord[];
  readonly unfinished: CascadeRecord[];
  /** Whether a changes feed has new entries. */
  isFed: boolean;
  readonly with: Followers;
}

/** What a run does, in addition to writing documents. */
interface Followers {
  /** Publishes documents that followed to live updates. */
  readonly publish?: (source: Collection, ids: readonly ObjectId[]) => Promise<void>;
  /** Deletes files of removed documents; false if there was not enough time. Without it they are left to the task. */
  readonly deleteFiles?: (project: Project, removed: Removed, end: number) => Promise<boolean>;
}

export const newRun = (project: Project, left: number, withinMs: number, others: Followers = {}): CascadeRun => {
  const startedAt = clock.now();
  return { project, left, end: startedAt + withinMs, startedAt, done: [], unfinished: [], isFed: false, with: others };
};

/** The documents of a removal that has happened and still holds. */
const happened = async (project: Project, { collection, ids, kind, at }: Removed): Promise<readonly ObjectId[]> => {
  const projection = { isDeleted: 1, deletedAt: 1, _gone: 1 };
  const found = await onCollection(project, collection, (db) =>
    db
      .collection<Document>(collection)
      .find({ _id: { $in: [...ids] } }, { projection, maxTimeMS })
      .toArray(),
  );
  const there = new Map(found.filter(({ _gone }) => typeof _gone !== 'boolean').map((one) => [String(one._id), one]));
  return ids.filter((id) => {
    const document = there.get(id.toHexString());
    const isTrashed = document?.isDeleted === true;
    if (kind === 'recover') return document !== undefined && !isTrashed;
    if (!document) return true;
    return kind === 'trash' && isTrashed && (document.deletedAt as Date | null)?.getTime() === at.getTime();
  });
};

/** Makes documents follow, and the documents that follow them. Returns false if there was not enough time. */
const followBatch = async (
  run: CascadeRun,
  removed: Removed,
  follower: Follower,
  found: readonly Document[],
): Promise<{ readonly written: number; readonly complete: boolean }> => {
  const { project } = run;
  const { source } = follower;
  const removals = mayBeFollowed(project, source.name) ? removalsOf(removed, follower, found) : [];
  const noted: (CascadeRecord | undefined)[] = [];
  for (const removal of removals) noted.push(await noteRemoval(project, removal));
  const written = await writeFollowers(project, removed, follower, found);
  if (source.feed?.on) run.isFed = true;
  await run.with.publish?.(
    source,
    found.map(({ _id }) => _id),
  );
  let complete = true;
  for (const record of noted) if (record && !(await follow(run, record))) complete = false;
  return { written, complete };
};

/** Makes the documents of one Ref follow, batch by batch. Returns false if there was not enough time. */
const followReference = async (run: CascadeRun, removed: Removed, follower: Follower): Promise<boolean> => {
  const { source } = follower;
  const stuck: ObjectId[] = [];
  while (run.left > 0 && clock.now() < run.end && stuck.length < maxStuck) {
    const limit = Math.min(batchSize, run.left);
    const passed: Condition = stuck.length > 0 ? { _id: { $nin: stuck } } : {};
    const options = { projection: { _rev: 1, isDeleted: 1 }, limit, maxTimeMS };
    const found = await onCollection(run.project, source.name, (db) =>
      db
        .collection<Document>(source.name)
        .find(allOf([referring(removed, follower), passed]) as MongoDocument, options)
        .toArray(),
    );
    if (found.length === 0) return true;
    run.left -= found.length;
    const { written, complete } = await followBatch(run, removed, follower, found);
    if (!complete) return false;
    if (written === 0) stuck.push(...found.map(({ _id }) => _id));
    else if (found.length < limit && written === found.length) return true;
  }
  return stuck.length >= maxStuck;
};

/**
 * Makes everything follow a removal until the time of the run is over. Returns whether it was complete. Does nothing
 * if the removal did not happen or was undone. It can be repeated, and interrupted anywhere.
 */
export const follow = async (run: CascadeRun, record: CascadeRecord): Promise<boolean> => {
  const followers = (await followersOf(run.project, record.collection)).filter(({ ref }) => isFollowed(ref, record));
  const ids = followers.length === 0 ? [] : await happened(run.project, record);
  let complete = true;
  for (let start = 0; complete && start < ids.length; start += removedAtOnce) {
    const removed: Removed = { ...record, ids: ids.slice(start, start + removedAtOnce) };
    for (const follower of followers) {
      complete = await followReference(run, removed, follower);
      if (!complete) break;
    }
  }
  if (mayHaveFiles(run.project, record.collection, record.kind)) {
    const { deleteFiles = async () => false } = run.with;
    complete = (await deleteFiles(run.project, record, run.end)) && complete;
  }
  (complete ? run.done : run.unfinished).push(record);
  return complete;
};

/**
 * Ends a run. Completed removals are checked again a minute after they were stored, or deleted after that; the
 * others are due now. Returns after how many seconds the next run must look, if any.
 */
export const finishRun = async ({ project, startedAt, done, unfinished, isFed }: CascadeRun) => {
  if (isFed && isHooked(project, 'document')) await wakeWebhookWorker(project.id);
  const isOld = ({ createdAt }: CascadeRecord): boolean => createdAt.getTime() + againMs <= startedAt;
  const chosen = (records: readonly CascadeRecord[]) => ({ _id: { $in: records.map(({ _id }) => _id) } });
  const [old, recent] = [done.filter(isOld), done.filter((record) => !isOld(record))];
  await cascadeRecords.bulkWrite([
    ...(old.length > 0 ? [{ deleteMany: { filter: chosen(old) } }] : []),
    ...(recent.length > 0
      ? [
          {
            updateMany: {
              filter: chosen(recent),
              update: [{ $set: { dueAt: { $add: ['$createdAt', againMs] } } }],
            },
          },
        ]
      : []),
    ...(unfinished.length > 0
      ? [{ updateMany: { filter: chosen(unfinished), update: { $set: { dueAt: new Date(clock.now()) } } } }]
      : []),
  ]);
  if (unfinished.length > 0) return 0;
  return recent.length > 0 ? againMs / 1000 : undefined;
};
