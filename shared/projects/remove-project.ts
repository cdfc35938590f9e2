import { onControl, onProject } from '../clients/mongo.ts';
import { clock } from '../clock.ts';
import { describeError, log } from '../log.ts';
import { removeProjectFiles } from '../storage/remove-project-files.ts';
import { removeProjectItems } from './project-items.ts';
import { type ProjectRecord, toProject } from './project-record.ts';

/** Longer than any function keeps a project record, so that nothing is written into what is being removed. */
const quietMs = 6000;
const projectsPerRun = 20;
const batchesPerProject = 200;
const filePagesPerProject = 20;
const dropLimitMs = 20_000;

/** Collections of the control database whose records name a project in `projectId`. */
const ownedRecords = [
  'auditEntries',
  'collections',
  'mailLogs',
  'mailSuppressions',
  'mailTemplates',
  'transfers',
] as const;

/** Removes what a project owns, step by step; each step may be repeated. False where items of it are still left. */
const removeProject = async (record: ProjectRecord): Promise<boolean> => {
  const project = toProject({ ...record, placement: { kind: 'managed', cell: 'main' } }, 'free');
  await onProject(project, (db) => db.dropDatabase(), dropLimitMs);
  for (const name of ownedRecords) {
    await onControl((db) => db.collection(name).deleteMany({ projectId: record._id }));
  }
  const files = await removeProjectFiles(project.id, filePagesPerProject);
  const items = await removeProjectItems(project.id, batchesPerProject);
  const complete = files.complete && items.complete;
  if (complete) {
    await onControl((db) => db.collection<ProjectRecord>('projects').deleteOne({ _id: record._id, state: 'deleting' }));
  }
  log.info({ job: 'remove-projects', project: project.id, files: files.removed, items: items.removed, complete });
  return complete;
};

const dueProjects = (): Promise<ProjectRecord[]> =>
  onControl((db) =>
    db
      .collection<ProjectRecord>('projects')
      .find(
        { state: 'deleting', deletingSince: { $lte: new Date(clock.now() - quietMs) } },
        { sort: { deletingSince: 1 }, limit: projectsPerRun, maxTimeMS: 5000 },
      )
      .toArray(),
  );

/**
 * Removes projects that have been deleted for at least 6 s, oldest first, at most 20 a run: their managed database, their
 * collection records, their files in our bucket, their items in the table, last their record. A run that is cut short is carried on by the next one; a
 * database or storage of the developer's own is left as it is. Answers how many projects are gone.
 */
export const removeDeletedProjects = async (): Promise<number> => {
  let gone = 0;
  for (const record of await dueProjects()) {
    try {
      if (await removeProject(record)) gone++;
    } catch (error) {
      log.error({ job: 'remove-projects', project: record._id.toHexString(), error: describeError(error) });
    }
  }
  return gone;
};
