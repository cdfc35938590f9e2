import { ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { log } from '../../core/log.ts';
import { loadProject } from '../../projects/find-project-by-id.ts';
import type { Project } from '../../projects/project.ts';
import { putOff } from '../../work/lease.ts';
import { type RecordJob, workThroughRecords } from '../../work/record-job.ts';
import type { CollectionRecord } from '../collection-record.ts';
import { activeIn, collectionRecords } from '../control-collections.ts';
import { tidyIndexes } from '../indexes/apply-indexes.ts';
import { dropIndex } from '../indexes/own-indexes.ts';

/** Longer than an edit takes, with all that it may still have under way in the database. */
const quietMs = 2 * 60_000;

/** Notes, before its first step, that an edit may leave other indexes than the record names. Answers the mark. */
export const beginEdit = async (project: Project, name: string): Promise<Date> => {
  const editingSince = new Date(clock.now());
  await collectionRecords.updateOne({ ...activeIn(project), name: { $eq: name } }, { $set: { editingSince } });
  return editingSince;
};

/**
 * Leaves the indexes as the record has them, and takes the mark off, unless another edit has begun meanwhile. What was
 * deleted of the developer's own until then may have been built anew, and is dropped again. `leftMs` as of
 * `tidyIndexes`.
 */
export const finishEdit = async (
  project: Project,
  name: string,
  editingSince: Date,
  leftMs?: () => number,
): Promise<void> => {
  const { indexes: built = [] } = await tidyIndexes(project, name, leftMs);
  const now = await collectionRecords.findOneAndUpdate(
    { projectId: new ObjectId(project.id), name: { $eq: name }, editingSince },
    { $unset: { editingSince: '' } },
    { returnDocument: 'after' },
  );
  const left = new Set(now?.indexes?.map((index) => index.name));
  const deleted = now ? built.filter((index) => index.ready && !left.has(index.name)) : [];
  for (const index of deleted) await dropIndex(project, name, index.name);
};

const tidy = async (record: CollectionRecord): Promise<boolean> => {
  const { projectId, name, editingSince } = record;
  const project = await loadProject(projectId);
  if (!project || !editingSince) {
    await putOff(editedCollections, record);
    return false;
  }
  await finishEdit(project, name, editingSince);
  log.info({ job: 'remove-projects', project: project.id, collection: name, was: 'edited' });
  return true;
};

/** Begun this late, one still ends within the time of the job. */
const editedCollections: RecordJob<CollectionRecord> = {
  name: 'remove-projects',
  what: 'collection',
  records: collectionRecords,
  lease: 'editingSince',
  open: () => ({ state: 'active' }),
  quietMs,
  page: 50,
  step: tidy,
  pace: { lanes: 1, limitMs: 20_000 },
};

/**
 * Gives collections whose editing was cut short the indexes that their record names: one that was to be unique is not
 * held so by half an edit, and one that was given up is not kept. Returns how many it has dealt with.
 */
export const tidyEditedCollections = async (): Promise<number> => (await workThroughRecords(editedCollections)).done;
