import { ObjectId } from 'mongodb';
import { collectionRecords } from '../../collections/control-collections.ts';
import { notTrashedAfter } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { databaseOf } from '../../projects/database-of.ts';
import type { Project } from '../../projects/project.ts';
import type { Removal } from '../../projects/project-items.ts';
import { projectRecords } from '../../projects/project-record.ts';
import { queueSoon } from '../../work/work-queue.ts';
import type { Emptied } from '../changes/tombstones.ts';
import { removeBatch } from './remove-trashed.ts';

/** Written down before anything is queued: a purge honours it even where its message is lost. */
const remember = async (project: Project, name: string, until: Date): Promise<void> => {
  const projectId = new ObjectId(project.id);
  await collectionRecords.updateOne(
    { projectId, name: { $eq: name }, state: 'active' },
    { $max: { [`trashEmptied.${databaseOf(project)}`]: until } },
  );
  await projectRecords.updateOne({ _id: projectId, state: 'active' }, { $set: { trashDueAt: until } });
};

/**
 * Removes what is in the trash of a collection now: up to 1000 documents at once, a larger trash by the work queue,
 * which `complete: false` says. What is trashed from now on stays, and so does what is restored before its turn.
 */
export const emptyTrash = async (project: Project, collection: Emptied): Promise<Removal> => {
  const now = new Date(clock.now());
  const first = await removeBatch(project, collection, notTrashedAfter(now));
  if (first.complete) return first;
  await remember(project, collection.name, now);
  await queueSoon({ task: 'purge-trash', projectId: project.id });
  return first;
};
