import { log } from '../../core/log.ts';
import { loadProject } from '../../projects/find-project-by-id.ts';
import { putOff } from '../../work/lease.ts';
import { type RecordJob, workThroughRecords } from '../../work/record-job.ts';
import type { CollectionRecord } from '../collection-record.ts';
import { dueForRemoval, leasedCollections } from '../control-collections.ts';
import { takeOverDeletion } from './delete-collection.ts';

const removeAbandoned = async (record: CollectionRecord): Promise<boolean> => {
  const project = await loadProject(record.projectId);
  if (!project) {
    // Removing the project removes it.
    await putOff(leasedCollections, record);
    return false;
  }
  if (!(await takeOverDeletion(project, record))) return false;
  log.info({ job: 'remove-projects', project: project.id, collection: record.name, was: record.state });
  return true;
};

/** A run of the job has more to do than this, and no collection takes much more than half a minute. */
const abandonedCollections: RecordJob<CollectionRecord> = {
  ...leasedCollections,
  name: 'remove-projects',
  what: 'collection',
  open: dueForRemoval,
  quietMs: 0,
  page: 50,
  step: removeAbandoned,
  pace: { lanes: 1, limitMs: 60_000 },
};

/**
 * Removes collections whose creation or deletion was cut short and that nobody has come back to: their data and their
 * record, which holds a name and a place; and, of deleted ones, what functions have written that still knew them. A run
 * begins none after a minute. Returns how many it has dealt with.
 */
export const removeAbandonedCollections = async (): Promise<number> =>
  (await workThroughRecords(abandonedCollections)).done;
