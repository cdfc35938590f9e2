import type { Collection } from 'mongodb';
import { onControl, onManaged } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { log } from '../../core/log.ts';
import { logFailure } from '../../core/log-failure.ts';
import { workThrough } from '../../work/work-through.ts';
import { removeProjectItems } from '../project-items.ts';
import type { ProjectRecord } from '../project-record.ts';
import { removeProjectFiles } from './remove-project-files.ts';

/**
 * Longer than a function caches a project, than the longest function runs, and than a signed upload URL is valid:
 * nothing is written to the project any more.
 */
const quietMs = 12 * 60_000;
const projectsPerStep = 20;
/** Each of them drops a database, which MongoDB does one after the other. */
const lanes = 3;
const filePagesPerProject = 20;
const itemsLimitMs = 20_000;
const dropLimitMs = 20_000;

/**
 * No further project is started after this time; the rest of the five minutes is for the one in progress and the other
 * work of the job.
 */
const runMs = 120_000;

/** Collections of the control database whose records name a project in `projectId`. */
const ownedRecords = [
  'transfers',
  'auditEntries',
  'collections',
  'mailLogs',
  'mailSuppressions',
  'mailTemplates',
] as const;

const onProjects = <T>(operation: (projects: Collection<ProjectRecord>) => Promise<T>): Promise<T> =>
  onControl((db) => operation(db.collection<ProjectRecord>('projects')));

/** Removes what a project owns, step by step; each step may be repeated. False where items of it are still left. */
const removeProject = async ({ _id }: ProjectRecord): Promise<boolean> => {
  const id = _id.toHexString();
  for (const name of ownedRecords) {
    await onControl((db) => db.collection(name).deleteMany({ projectId: _id }));
  }
  const files = await removeProjectFiles(id, filePagesPerProject);
  const items = await removeProjectItems(id, itemsLimitMs);
  await onManaged({ id }, (db) => db.dropDatabase(), dropLimitMs);
  const complete = files.complete && items.complete;
  if (complete) await onProjects((projects) => projects.deleteOne({ _id, state: 'deleting' }));
  log.info({ job: 'remove-projects', project: id, files: files.removed, items: items.removed, complete });
  return complete;
};

/** Moves one that failed to the end of the queue. */
const putOff = ({ _id }: ProjectRecord): Promise<unknown> =>
  onProjects((projects) =>
    projects.updateOne({ _id, state: 'deleting' }, { $set: { deletingSince: new Date(clock.now()) } }),
  );

const dueProjects = (had: readonly ProjectRecord[]): Promise<ProjectRecord[]> =>
  onProjects((projects) =>
    projects
      .find(
        {
          state: 'deleting',
          deletingSince: { $lte: new Date(clock.now() - quietMs) },
          _id: { $nin: had.map(({ _id }) => _id) },
        },
        { sort: { deletingSince: 1 }, limit: projectsPerStep, maxTimeMS: 5000 },
      )
      .toArray(),
  );

const tryToRemove = async (record: ProjectRecord): Promise<boolean> => {
  try {
    return await removeProject(record);
  } catch (error) {
    logFailure({ job: 'remove-projects', project: record._id.toHexString() }, error);
    await putOff(record).catch(() => undefined);
    return false;
  }
};

/**
 * Removes projects that have been deleted for at least 12 minutes: what the control database has of them, their files
 * in our bucket, their items in the table, their managed database, last their record. Those that have waited longest
 * come first, each once a run, and one that fails waits again, behind all others; a run begins none after two minutes.
 * A run that is cut short is carried on by the next one; a database or storage of the developer's own is left as it is.
 * Returns how many projects are gone; `behindMinutes` in the log is how long the oldest has been due that there was no
 * time for.
 */
export const removeDeletedProjects = async (limitMs = runMs): Promise<number> => {
  const { done, behindMinutes } = await workThrough({
    next: dueProjects,
    dueAt: ({ deletingSince }) => new Date((deletingSince?.getTime() ?? 0) + quietMs),
    act: tryToRemove,
    lanes,
    limitMs,
  });
  if (done > 0 || behindMinutes > 0) log.info({ job: 'remove-projects', projects: done, behindMinutes });
  return done;
};
