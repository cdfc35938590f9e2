import { ObjectId } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { log } from '../../core/log.ts';
import { logFailure } from '../../core/log-failure.ts';
import type { Project } from '../../projects/project.ts';
import { type ProjectRecord, toProject } from '../../projects/project-record.ts';
import { workThrough } from '../../work/work-through.ts';
import type { CollectionRecord } from '../collection-record.ts';
import { onCollections } from '../control-collections.ts';
import { tidyIndexes } from '../indexes/apply-indexes.ts';

/** Longer than an edit takes, with all that it may still have under way in the database. */
const quietMs = 2 * 60_000;

const perStep = 50;

/** Begun this late, one still ends within the time of the job. */
const runMs = 20_000;

/** Notes, before its first step, that an edit may leave other indexes than the record names. Answers the mark. */
export const beginEdit = async (project: Project, name: string): Promise<Date> => {
  const editingSince = new Date(clock.now());
  await onCollections((collections) =>
    collections.updateOne(
      { projectId: new ObjectId(project.id), name: { $eq: name }, state: 'active' },
      { $set: { editingSince } },
    ),
  );
  return editingSince;
};

/** Takes the mark off again, unless another edit has begun meanwhile. */
export const endEdit = (project: Project, name: string, editingSince: Date): Promise<unknown> =>
  onCollections((collections) =>
    collections.updateOne(
      { projectId: new ObjectId(project.id), name: { $eq: name }, editingSince },
      { $unset: { editingSince: '' } },
    ),
  );

/** Moves one that failed to the end of the queue. */
const putOff = ({ _id, editingSince }: CollectionRecord): Promise<unknown> =>
  onCollections((collections) =>
    collections.updateOne(
      { _id, ...(editingSince && { editingSince }) },
      { $set: { editingSince: new Date(clock.now()) } },
    ),
  );

const due = (had: readonly CollectionRecord[]): Promise<CollectionRecord[]> =>
  onCollections((collections) =>
    collections
      .find(
        {
          state: 'active',
          editingSince: { $lte: new Date(clock.now() - quietMs) },
          _id: { $nin: had.map(({ _id }) => _id) },
        },
        { sort: { editingSince: 1 }, limit: perStep, maxTimeMS: 5000 },
      )
      .toArray(),
  );

const tidy = async (record: CollectionRecord): Promise<boolean> => {
  const { projectId, name, editingSince } = record;
  try {
    const owner = await onControl((db) =>
      db.collection<ProjectRecord>('projects').findOne({ _id: projectId, state: 'active' }, { maxTimeMS: 5000 }),
    );
    if (owner && editingSince) {
      const project = toProject(owner);
      await tidyIndexes(project, name);
      await endEdit(project, name, editingSince);
      log.info({ job: 'remove-projects', project: projectId.toHexString(), collection: name, was: 'edited' });
      return true;
    }
  } catch (error) {
    logFailure({ job: 'remove-projects', collection: record._id.toHexString() }, error);
  }
  await putOff(record).catch(() => undefined);
  return false;
};

/**
 * Gives collections whose editing was cut short the indexes that their record names: one that was to be unique is not
 * held so by half an edit, and one that was given up is not kept. Each once a run; one that fails waits again, behind
 * all others. Returns how many it has dealt with.
 */
export const tidyEditedCollections = async (): Promise<number> => {
  const dueAt = ({ editingSince }: CollectionRecord): Date => editingSince ?? new Date(0);
  const { done } = await workThrough({ next: due, dueAt, act: tidy, lanes: 1, limitMs: runMs });
  return done;
};
