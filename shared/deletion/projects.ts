import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { log } from '../core/log.ts';
import { managedBucket } from '../files/bucket.ts';
import { fileKeys, pendingKey } from '../files/file-items.ts';
import { answerPrefix } from '../persistence/idempotency.ts';
import { type RecordJob, workThroughRecords } from '../persistence/jobs.ts';
import { inControl, onManaged } from '../persistence/mongo.ts';
import { onFiles } from '../persistence/s3.ts';
import { removeProjectItems } from '../projects/items.ts';
import { type ProjectRecord, projectRecords } from '../projects/project.ts';
import { transferPrefixes } from '../transfers/transfer.ts';

const pageSize = 1000;

const nextKeys = (prefix: string) =>
  onFiles(async (client, Bucket) => {
    const { Contents = [] } = await client.send(
      new ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: pageSize }),
    );
    return Contents.flatMap(({ Key }) => Key ?? []);
  });

/** Removes up to `pages` × 1,000 objects of a project from our bucket. `complete`: nothing is left. */
export const removeProjectFiles = async (
  projectId: string,
  pages: number,
): Promise<{ readonly removed: number; readonly complete: boolean }> => {
  const prefixes = [
    pendingKey(`${projectId}/`),
    ...fileKeys(`${projectId}/`),
    ...transferPrefixes(projectId),
    answerPrefix(projectId),
  ];
  let removed = 0;
  for (let page = 0; page < pages; page++) {
    const [prefix] = prefixes;
    if (prefix === undefined) return { removed, complete: true };
    const keys = await nextKeys(prefix);
    await managedBucket.remove(keys);
    removed += keys.length;
    if (keys.length < pageSize) prefixes.shift();
  }
  return { removed, complete: prefixes.length === 0 };
};

/** Longer than projects are cached, functions run and upload URLs are valid, so nothing is written any more. */
const quietMs = 12 * 60_000;
const filePagesPerProject = 20;
const itemsLimitMs = 20_000;
const dropLimitMs = 20_000;

/** Collections of the control database whose records have a `projectId`. */
const ownedRecords = [
  'transfers',
  'auditEntries',
  'cascades',
  'collections',
  'mailLogs',
  'mailSuppressions',
  'mailTemplates',
  'userInvitations',
  'webhookDeliveries',
  'webhooks',
] as const;

/** Each step can be repeated. Returns false if objects or items are left. */
const removeProject = async ({ _id }: ProjectRecord): Promise<boolean> => {
  const id = _id.toHexString();
  for (const name of ownedRecords) {
    await inControl(name).deleteMany({ projectId: _id });
  }
  const files = await removeProjectFiles(id, filePagesPerProject);
  const items = await removeProjectItems(id, itemsLimitMs);
  await onManaged({ id }, (db) => db.dropDatabase(), dropLimitMs);
  const complete = files.complete && items.complete;
  if (complete) await projectRecords.deleteOne({ _id, state: 'deleting' });
  log.info({ job: 'remove-projects', project: id, files: files.removed, items: items.removed, complete });
  return complete;
};

/** MongoDB drops one database at a time; the rest of the job's 5 minutes is for projects in progress. */
const projectRemoval: RecordJob<ProjectRecord> = {
  name: 'remove-projects',
  what: 'project',
  records: projectRecords,
  lease: 'deletingSince',
  while: ['state'],
  open: () => ({ state: 'deleting' }),
  quietMs,
  page: 20,
  step: removeProject,
  concurrency: 3,
  limitMs: 120_000,
};

/**
 * Removes projects that were deleted over 12 minutes ago: records, files, items, hosted database, then the project
 * record. A customer's own database or bucket is not touched. Projects that failed come last. Returns how many were
 * removed.
 */
export const removeDeletedProjects = async (): Promise<number> => {
  const { done, behindMinutes } = await workThroughRecords(projectRemoval);
  if (done > 0 || behindMinutes > 0) log.info({ job: 'remove-projects', projects: done, behindMinutes });
  return done;
};
