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

/** Longer than an edit takes, with all that it may still have under way in the database. */
const quietMs = 2 * 60_000;

/** Notes, before its first step, that an edit may leave other indexes than the record names. Answers the mark. */
export const beginEdit = async (project: Project, name: string): Promise<Date> => {
  const editingSince = new Date(clock.now());
  await collectionRecords.updateOne({ ...activeIn(project), name: { $eq: name } }, { $set: { editingSince } });
  return editingSince;
};

/** Takes the mark off again, unless another edit has begun meanwhile. */
export const endEdit = (project: Project, name: string, editingSince: Date): Promise<unknown> =>
  collectionRecords.updateOne(
    { projectId: new ObjectId(project.id), name: { $eq: name }, editingSince },
    { $unset: { editingSince: '' } },
  );

const tidy = async (record: CollectionRecord): Promise<boolean> => {
  const { projectId, name, editingSince } = record;
  const project = await loadProject(projectId);
  if (!project || !editingSince) {
    await putOff(editedCollections, record);
    return false;
  }
  await tidyIndexes(project, name);
  await endEdit(project, name, editingSince);
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
