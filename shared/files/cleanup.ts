import { clock, dayMs } from '../core/clock.ts';
import { describeError, log } from '../core/log.ts';
import { type Job, mapConcurrent, type Worked, workThrough } from '../persistence/jobs.ts';
import { timed } from '../persistence/mongo-commands.ts';
import { findProjectById } from '../projects/find-project.ts';
import { type Bucket, managedBucket } from './bucket.ts';
import { bucketOf } from './bucket-of.ts';
import {
  awaitConfirmation,
  type DueEntry,
  type DueQueue,
  dueUploads,
  mayAwaitConfirmation,
  removeDueEntry,
  reschedule,
  shards,
} from './due-uploads.ts';
import { fileKeys, pendingKey } from './file-items.ts';
import { sizeKeys, type Unneeded, unneededSizes } from './images/store.ts';
import { claimLeftover } from './move-file.ts';
import { managedStorageId, storageIdOf } from './storage-keys.ts';
import { expire, stateOf } from './upload-states.ts';

/** Paths of one page that are looked at or put off, and storages that are asked, at the same time. */
const lanes = 5;

/** For so long after something was due there, a storage of a project's own that does not let us in is asked for it. */
const patienceMs = 7 * dayMs;

/** Longest wait for the removal of a page's objects from a storage of a project's own. */
const externalLimitMs = 10_000;

/** After so many failures a run tries a storage no more: one that does not answer must not use up its time. */
const mostFailures = (storageId: string): number => (storageId === managedStorageId ? 10 : 1);

/** Whether a late confirmation may find the bytes of an upload. */
const isConfirmable = async (entry: DueEntry): Promise<boolean> =>
  mayAwaitConfirmation(entry) &&
  // A storage that does not answer may have them.
  managedBucket.head(pendingKey(entry.filePath)).then(Boolean, () => true);

/** What the sweep finds at a path: objects that nobody needs, or an upload that may yet be confirmed. */
type Found = Unneeded & { readonly isAwaited?: true };

/** What is unneeded at a path. A request that nobody confirmed expires here. */
const unneeded = async (entry: DueEntry): Promise<Found> => {
  const pending = pendingKey(entry.filePath);
  let state = await stateOf(entry);
  if (state?.kind === 'requested') {
    if (await isConfirmable(entry)) return { keys: [], isAwaited: true };
    state = (await expire(entry, state)) ? undefined : await stateOf(entry);
  }
  if (!state) return { keys: [pending, ...fileKeys(entry.filePath), ...sizeKeys(entry.filePath, entry.sizes)] };
  const { keys: sizes, isHeld } = await unneededSizes(entry, state);
  const keys = [pending, ...sizes];
  if (isHeld || (entry.move !== 'moved' && entry.move !== 'opened')) return { keys, isHeld };
  const leftover = await claimLeftover(entry);
  if (!leftover) return { keys, isHeld: true };
  return { keys: [...keys, ...leftover.keys], release: leftover.release };
};

/** The bucket that an entry's objects are in; `undefined` where the project has another storage now, or is gone. */
const bucketFor = async ({ projectId, storageId }: DueEntry): Promise<Bucket | undefined> => {
  if (storageId === managedStorageId) return managedBucket;
  const project = await findProjectById(projectId);
  return project && storageIdOf(project.storage) === storageId ? bucketOf(project) : undefined;
};

/** The upload in parts that an entry asks to give up, if it is one. */
const uploadIn = ({ uploadId, objectKey: key }: DueEntry) => (uploadId && key ? [{ key, uploadId }] : []);

const placeOf = ({ projectId, storageId }: DueEntry): string =>
  storageId === managedStorageId ? managedStorageId : `${projectId} ${storageId}`;

const isGivenUp = ({ storageId, first }: DueEntry): boolean =>
  storageId !== managedStorageId && clock.now() - first > patienceMs;

/** Settles what one run finds due, and knows which storages have failed in it. */
class CleanupEntry {
  /** How many were put off, because their storage did not do what it was asked, or somebody else had the file. */
  postponed = 0;
  readonly #failures = new Map<string, number>();

  /** Does what is due of some paths, returns how many are done with; may be repeated, as their entries go last. */
  async settle(entries: readonly DueEntry[]): Promise<number> {
    let settled = 0;
    const found = new Map<DueEntry, Found>();
    await mapConcurrent(entries, lanes, async (entry) => found.set(entry, await unneeded(entry)));
    await mapConcurrent([...Map.groupBy(entries, placeOf)], lanes, async ([place, group]) => {
      const removed = await this.#remove(place, group, found);
      await mapConcurrent(group, lanes, async (entry) => {
        const { release, isHeld, isAwaited } = found.get(entry) ?? {};
        await release?.();
        if (isAwaited) await awaitConfirmation(entry);
        else if (await this.#finish(entry, removed && !isHeld)) settled++;
      });
    });
    return settled;
  }

  /** False where the storage is to be asked again by a later run. */
  async #remove(
    place: string,
    [first, ...more]: readonly DueEntry[],
    found: ReadonlyMap<DueEntry, Unneeded>,
  ): Promise<boolean> {
    if (!first) return true;
    const failures = this.#failures.get(place) ?? 0;
    if (failures >= mostFailures(first.storageId)) return false;
    const all = [first, ...more].flatMap((entry) => found.get(entry)?.keys ?? []);
    try {
      await timed(externalLimitMs, async () => {
        const bucket = await bucketFor(first);
        await mapConcurrent([first, ...more].flatMap(uploadIn), lanes, async (upload) => bucket?.parts?.abort(upload));
        await bucket?.remove(all);
      });
      return true;
    } catch (error) {
      this.#failures.set(place, failures + 1);
      const line = { job: 'sweep-uploads', project: first.projectId, error: describeError(error) };
      if (first.storageId === managedStorageId) log.error(line);
      else log.warn(line);
      return false;
    }
  }

  async #finish(entry: DueEntry, removed: boolean): Promise<boolean> {
    const isDone = removed || isGivenUp(entry);
    if (isDone) await removeDueEntry(entry);
    else await reschedule(entry);
    if (!isDone) this.postponed++;
    return isDone;
  }
}

/** Of the 5 minutes of a run; a page of paths that is begun by then takes less than one. */
const runMs = 3 * 60_000;

const queues: readonly DueQueue[] = ['managed', 'external'];

/** What is due in one of the queues when it begins, a page of paths at a time. */
const sweepOf = (queue: DueQueue, settlement: CleanupEntry, limitMs: number): Job<readonly DueEntry[]> => {
  const now = clock.now();
  return {
    due: () => dueUploads(queue, now),
    dueAt: ([first]) => first?.due ?? now,
    step: (entries) => settlement.settle(entries),
    pace: { lanes: shards, limitMs },
  };
};

/**
 * Settles what is due of uploads: requests that nobody confirmed in time expire and give back what they had reserved;
 * what was uploaded and is no file is removed. The longest overdue come first, for 3 minutes; the next run carries on.
 * Returns how many paths it settled; `behindMinutes` in the log: for how long the oldest is overdue.
 */
export const sweepUploads = async (limitMs = runMs): Promise<number> => {
  const settlement = new CleanupEntry();
  const worked: Worked[] = [];
  await mapConcurrent(queues, queues.length, async (queue) => {
    worked.push(await workThrough(sweepOf(queue, settlement, limitMs)));
  });
  const settled = worked.reduce((sum, { done }) => sum + done, 0);
  const behindMinutes = Math.max(...worked.map((one) => one.behindMinutes));
  const { postponed } = settlement;
  if (settled + postponed + behindMinutes > 0) {
    log.info({ job: 'sweep-uploads', settled, postponed, behindMinutes });
  }
  return settled;
};
