import { ObjectId } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { onCollections } from '../../collections/control-collections.ts';
import { clock } from '../../core/clock.ts';
import { describeError, log } from '../../core/log.ts';
import { databaseOf } from '../../projects/database-of.ts';
import type { Project } from '../../projects/project.ts';
import type { ProjectRecord } from '../../projects/project-record.ts';
import { queueTask } from '../../work/work-queue.ts';
import { type Removal, removeBatch } from './remove-trashed.ts';
import { notTrashedAfter } from './trash-conditions.ts';

/** Written down before anything is queued: a purge honours it even where its message is lost. */
const remember = async (project: Project, name: string, until: Date): Promise<void> => {
  const projectId = new ObjectId(project.id);
  await onCollections((collections) =>
    collections.updateOne(
      { projectId, name: { $eq: name }, state: 'active' },
      { $max: { [`trashEmptied.${databaseOf(project)}`]: until } },
    ),
  );
  await onControl((db) =>
    db
      .collection<ProjectRecord>('projects')
      .updateOne({ _id: projectId, state: 'active' }, { $set: { trashDueAt: until } }),
  );
};

/**
 * Removes what is in the trash of a collection now: up to 1000 documents at once, a larger trash by the work queue,
 * which `complete: false` says. What is trashed from now on stays, and so does what is restored before its turn.
 */
export const emptyTrash = async (project: Project, collectionName: string): Promise<Removal> => {
  const now = new Date(clock.now());
  const first = await removeBatch(project, collectionName, notTrashedAfter(now));
  if (first.complete) return first;
  await remember(project, collectionName, now);
  await queueTask({ task: 'purge-trash', projectId: project.id }).catch((error: unknown) =>
    log.warn({ message: 'A purge waits for the schedule', project: project.id, error: describeError(error) }),
  );
  return first;
};
