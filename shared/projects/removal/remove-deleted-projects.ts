import { onControl, onManaged } from '../../clients/mongo.ts';
import { log } from '../../core/log.ts';
import { type RecordJob, workThroughRecords } from '../../work/record-job.ts';
import { removeProjectItems } from '../project-items.ts';
import { onProjects, type ProjectRecord } from '../project-record.ts';
import { removeProjectFiles } from './remove-project-files.ts';

/**
 * Longer than a function caches a project, than the longest function runs, and than a signed upload URL is valid:
 * nothing is written to the project any more.
 */
const quietMs = 12 * 60_000;
const filePagesPerProject = 20;
const itemsLimitMs = 20_000;
const dropLimitMs = 20_000;

/** Collections of the control database whose records name a project in `projectId`. */
const ownedRecords = [
  'transfers',
  'auditEntries',
  'collections',
  'mailLogs',
  'mailSuppressions',
  'mailTemplates',
] as const;

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

/**
 * Each drops a database, which MongoDB does one after the other. The rest of the job's five minutes is for the project
 * in progress and its other work.
 */
export const projectRemoval: RecordJob<ProjectRecord> = {
  name: 'remove-projects',
  what: 'project',
  on: onProjects,
  lease: 'deletingSince',
  while: ['state'],
  open: () => ({ state: 'deleting' }),
  quietMs,
  page: 20,
  step: removeProject,
  pace: { lanes: 3, limitMs: 120_000 },
};

/**
 * Removes projects that have been deleted for at least 12 minutes: what the control database has of them, their files
 * in our bucket, their items in the table, their managed database, last their record. Those that have waited longest
 * come first, each once a run, and one that fails waits again, behind all others; a run begins none after two minutes.
 * A run that is cut short is carried on by the next one; a database or storage of the developer's own is left as it is.
 * Returns how many projects are gone; `behindMinutes` in the log is how long the oldest has been due that there was no
 * time for.
 */
export const removeDeletedProjects = async (): Promise<number> => {
  const { done, behindMinutes } = await workThroughRecords(projectRemoval);
  if (done > 0 || behindMinutes > 0) log.info({ job: 'remove-projects', projects: done, behindMinutes });
  return done;
};
