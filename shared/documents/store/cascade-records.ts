import { type IndexDescription, ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { type DeletionRef, deletionRefs } from '../../collections/schema/references.ts';
import { clock } from '../../core/clock.ts';
import { workQueueSettings } from '../../core/config.ts';
import { newId } from '../../core/ids.ts';
import { tryOrLog } from '../../core/log.ts';
import { requestIdNow } from '../../core/request.ts';
import type { Leased } from '../../persistence/lease.ts';
import { databaseOf, inControl } from '../../persistence/mongo.ts';
import { sendDelayed } from '../../persistence/wake.ts';
import type { Task } from '../../persistence/work-queue.ts';
import type { Project } from '../../projects/project.ts';

/** A removal of documents to which other documents may refer. */
export interface Removed {
  readonly collection: string;
  readonly ids: readonly ObjectId[];
  readonly kind: 'trash' | 'delete' | 'recover';
  /** For `delete`: whether they were active. */
  readonly wasActive: boolean;
  /** When they were moved to the trash or deleted. Documents that follow have the same `deletedAt`. */
  readonly at: Date;
}

/**
 * A removal in `control.cascades`. It is stored before it happens, so that references are followed even if the run
 * ends. It is due again a minute later, for documents that were inserted concurrently.
 */
export interface CascadeRecord extends Removed {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  /** Where the documents were at that time. */
  readonly database: string;
  readonly dueAt: Date;
  readonly createdAt: Date;
}

export const cascadeRecords = inControl<CascadeRecord>('cascades');

export const cascadeIndexes: readonly IndexDescription[] = [
  { key: { dueAt: 1 }, name: 'due' },
  { key: { projectId: 1, dueAt: 1 }, name: 'project' },
];

export const leasedCascades: Leased<CascadeRecord> = { records: cascadeRecords, lease: 'dueAt' };

/** Longer than a request or a run of the task needs for the removals that it has stored. */
const leaseMs = 6 * 60_000;

export const cascadeLease = (): Date => new Date(clock.now() + leaseMs);

/** A collection with a Ref that has `onDelete`. */
export interface Follower {
  readonly source: Collection;
  readonly ref: DeletionRef;
}

/** The collections that may have a Ref with `onDelete` to one of the project. */
const sourcesOf = ({ restricts = [] }: Project, target: string): readonly string[] =>
  restricts.flatMap((each) => (each.target === target ? [each.by] : []));

/** Whether files may be deleted with documents of the collection. Costs no command. */
export const mayHaveFiles = ({ attached = [] }: Project, target: string, kind: Removed['kind']): boolean =>
  kind === 'delete' && attached.includes(target);

/** False if no Ref with `onDelete` points to the collection and no files follow. Costs no command. */
export const mayBeFollowed = (project: Project, target: string, kind: Removed['kind'] = 'delete'): boolean =>
  sourcesOf(project, target).length > 0 || mayHaveFiles(project, target, kind);

/** The Refs with `onDelete` to a collection. */
export const followersOf = async (project: Project, target: string): Promise<readonly Follower[]> => {
  const sources = await findCollections(project, sourcesOf(project, target));
  return [...sources.values()].flatMap((source) =>
    deletionRefs(source)
      .filter(({ ref }) => ref === target)
      .map((ref) => ({ source, ref })),
  );
};

/** Whether the documents of a Ref with `onDelete` follow a removal. */
export const isFollowed = ({ onDelete }: DeletionRef, { kind, wasActive }: Pick<Removed, 'kind' | 'wasActive'>) => {
  if (onDelete === 'restrict') return false;
  if (onDelete === 'trash') return kind !== 'delete' || wasActive;
  return kind === 'delete';
};

/** Stores a removal that is about to happen. Returns `undefined`, without a command, if nothing can follow it. */
export const noteRemoval = async (project: Project, removed: Removed): Promise<CascadeRecord | undefined> => {
  const { collection, kind } = removed;
  if (!mayBeFollowed(project, collection, kind)) return undefined;
  if (!mayHaveFiles(project, collection, kind)) {
    const followers = await followersOf(project, collection);
    if (!followers.some(({ ref }) => isFollowed(ref, removed))) return undefined;
  }
  const record: CascadeRecord = {
    _id: newId(),
    projectId: new ObjectId(project.id),
    database: databaseOf(project),
    ...removed,
    dueAt: cascadeLease(),
    createdAt: new Date(clock.now()),
  };
  await cascadeRecords.insertOne(record);
  return record;
};

/** Wakes the task for a project in so many seconds. The schedule finds what no message announces. */
export const wakeCascades = (projectId: string, seconds: number): Promise<boolean> =>
  tryOrLog('warn', { message: 'References wait for the schedule', project: projectId }, () => {
    const task: Task = { task: 'follow-references', projectId, requestId: requestIdNow() };
    return sendDelayed(workQueueSettings().WORK_QUEUE_URL, JSON.stringify(task), seconds);
  });

/** Leaves a removal that has happened to the task. Never fails. */
export const followLater = async (project: Project, record: CascadeRecord | undefined): Promise<void> => {
  if (!record) return;
  const dueAt = new Date(clock.now());
  await tryOrLog('warn', { message: 'References wait for their lease', project: project.id }, () =>
    cascadeRecords.updateOne({ _id: record._id }, { $set: { dueAt } }),
  );
  await wakeCascades(project.id, 0);
};
