import { clock } from '../clock.ts';
import { describeError, log } from '../log.ts';
import { findProjectById } from '../projects/find-project-by-id.ts';
import type { Bucket } from './bucket.ts';
import { bucketOf } from './bucket-of.ts';
import type { DueEntry } from './due-entries.ts';
import { doneUntil, dueIn, partitionsBetween, removeDueEntry, setDoneUntil } from './due-queue.ts';
import { fileKey, pendingKey } from './file-path.ts';
import { managedBucket } from './managed-bucket.ts';
import { storageIdOf } from './storage-keys.ts';
import { expire, stateOf } from './upload-states.ts';

const managed = storageIdOf({ kind: 'managed' });
const entriesPerRun = 2000;
const lanes = 10;

/** A storage that does not let us in for so long after something was due there is not asked for it again. */
const patienceMs = 7 * 24 * 60 * 60 * 1000;

/** The objects of a path that nobody needs (any more). A request that nobody confirmed expires here. */
const unneeded = async (entry: DueEntry): Promise<string[]> => {
  const pending = pendingKey(entry.filePath);
  let state = await stateOf(entry);
  if (state?.kind === 'requested') state = (await expire(entry, state.size)) ? undefined : await stateOf(entry);
  return state ? [pending] : [pending, fileKey(entry.filePath)];
};

/** The bucket in which the objects of an entry are; `undefined` where the project has another storage now, or is gone. */
const bucketFor = async ({ projectId, storageId }: DueEntry): Promise<Bucket | undefined> => {
  if (storageId === managed) return managedBucket;
  const project = await findProjectById(projectId);
  return project && storageIdOf(project.storage) === storageId ? bucketOf(project) : undefined;
};

/** A storage that failed in a run is not tried again in it: one that does not answer must not use up the time of all. */
class Run {
  handled = 0;
  left = 0;
  readonly #failed = new Set<string>();

  /** False where the storage did not do it and is to be asked again by a later run. */
  async #remove(entry: DueEntry, keys: readonly string[]): Promise<boolean> {
    const place = entry.storageId === managed ? managed : `${entry.projectId} ${entry.storageId}`;
    if (!this.#failed.has(place)) {
      try {
        await (await bucketFor(entry))?.remove(keys);
        return true;
      } catch (error) {
        this.#failed.add(place);
        log.error({ job: 'sweep-uploads', project: entry.projectId, error: describeError(error) });
      }
    }
    return clock.now() - entry.due > patienceMs;
  }

  /** Does what is due of one path; every step may be repeated, and the entry goes last. */
  async #settle(entry: DueEntry): Promise<void> {
    const keys = await unneeded(entry);
    if (await this.#remove(entry, keys)) {
      await removeDueEntry(entry);
      this.handled++;
    } else this.left++;
  }

  async settle(entries: readonly DueEntry[]): Promise<void> {
    const waiting = [...entries];
    const lane = async (): Promise<void> => {
      for (let entry = waiting.pop(); entry; entry = waiting.pop()) await this.#settle(entry);
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }
}

/**
 * Settles what is due of uploads: requests of a day ago that nobody confirmed expire and give back what they had reserved; what
 * was uploaded and is not, or no longer, a file is removed. At most 2 000 paths a run; a run that is cut short is carried on by
 * the next one. Answers how many paths it settled.
 */
export const sweepUploads = async (): Promise<number> => {
  const now = clock.now();
  const run = new Run();
  for (const partition of partitionsBetween(await doneUntil(now), now)) {
    for await (const entries of dueIn(partition, now)) {
      await run.settle(entries);
      if (run.handled >= entriesPerRun) return run.handled;
    }
  }
  if (run.left === 0) await setDoneUntil(now);
  return run.handled;
};
