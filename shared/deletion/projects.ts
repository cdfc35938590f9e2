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

/** The most that one request lists, and that one removes. */
const pageSize = 1000;

const nextKeys = (prefix: string) =>
  onFiles(async (client, Bucket) => {
    const { Contents = [] } = await client.send(
      new ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: pageSize }),
    );
    return Contents.flatMap(({ Key }) => Key ?? []);
  });

/**
 * Removes what a project has in our bucket, confirmed or not, at most `pages` times 1 000 objects; storage of its own
 * is left as it is. `complete` tells whether nothing is left.
 */
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

/** Longer than a project is cached, any function runs, and an upload URL is valid: nothing is written any more. */
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
  'webhookDeliveries',
  'webhooks',
] as const;

/** Removes what a project owns, step by step; each step may be repeated. False where items of it are still left. */
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

/** MongoDB drops one database after the other; the rest of the five minutes is for what is in progress. */
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
  pace: { lanes: 3, limitMs: 120_000 },
};

/**
 * Removes projects that have been deleted for 12 minutes: records, files in our bucket, items, managed database, last
 * their own record; a database or storage of their own is left. Those that have waited longest come first, one that
 * fails behind all others; a run begins none after two minutes, and the next one carries on. Returns how many are gone;
 * `behindMinutes` in the log: for how long the oldest is overdue.
 */
export const removeDeletedProjects = async (): Promise<number> => {
  const { done, behindMinutes } = await workThroughRecords(projectRemoval);
  if (done > 0 || behindMinutes > 0) log.info({ job: 'remove-projects', projects: done, behindMinutes });
  return done;
};
