import { clock, dayMs } from '../core/clock.ts';
import { mapConcurrent } from '../core/concurrency.ts';
import { describeError, log, tryOrLog } from '../core/log.ts';
import { type Job, type Worked, workThrough } from '../persistence/jobs.ts';
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
import { type UnneededObjects, unneededVariants, variantObjectKeys } from './images/store.ts';
import { holdLeftover } from './move-file.ts';
import { managedStorageId, storageIdOf } from './storage-keys.ts';
import { expire, stateOf } from './upload-states.ts';

/** Concurrent paths of a page, and concurrent storages. */
const concurrency = 5;

/** How long a customer's storage that fails is retried. */
const patienceMs = 7 * dayMs;

/** Longest removal of one page in a customer's storage. */
const externalLimitMs = 10_000;

/** Failures after which a run skips a storage, so that one that does not respond cannot use up its time. */
const maxFailures = (storageId: string): number => (storageId === managedStorageId ? 10 : 1);

/** True if a late confirmation may still find the bytes. */
const isConfirmable = async (entry: DueEntry): Promise<boolean> =>
  mayAwaitConfirmation(entry) &&
  // A storage that does not respond may have them.
  managedBucket.head(pendingKey(entry.filePath)).then(Boolean, () => true);

/** Unneeded objects, or an upload that may still be confirmed. */
type CleanupTask = UnneededObjects & { readonly isAwaited?: true };

/** Deletes a confirmed file of a document if the document no longer exists. */
type DeleteIfOrphan = (ref: DueEntry, of: string) => Promise<void>;

/** The file of a document is checked a while after its upload, because its deletion may not have known of it. */
const checkDocument = async (entry: DueEntry, of: string | undefined, check: DeleteIfOrphan | undefined) => {
  if (of === undefined || !check || (entry.move !== 'requested' && entry.move !== 'arrived')) return;
  const line = { message: 'The document of a file could not be checked', project: entry.projectId };
  await tryOrLog('warn', line, () => check(entry, of));
};

/** Also expires a request that nobody confirmed. */
const findUnneeded = async (entry: DueEntry, check: DeleteIfOrphan | undefined): Promise<CleanupTask> => {
  const pending = pendingKey(entry.filePath);
  let state = await stateOf(entry);
  if (state?.kind === 'requested') {
    if (await isConfirmable(entry)) return { keys: [], isAwaited: true };
    state = (await expire(entry, state)) ? undefined : await stateOf(entry);
  }
  if (state) await checkDocument(entry, state.of, check);
  if (!state)
    return { keys: [pending, ...fileKeys(entry.filePath), ...variantObjectKeys(entry.filePath, entry.sizes)] };
  const { keys: sizes, isHeld } = await unneededVariants(entry, state);
  const keys = [pending, ...sizes];
  if (isHeld || (entry.move !== 'moved' && entry.move !== 'opened')) return { keys, isHeld };
  const leftover = await holdLeftover(entry);
  if (!leftover) return { keys, isHeld: true };
  return { keys: [...keys, ...leftover.keys], release: leftover.release };
};

/** `undefined` if the project is deleted or uses another storage now. */
const bucketFor = async ({ projectId, storageId }: DueEntry): Promise<Bucket | undefined> => {
  if (storageId === managedStorageId) return managedBucket;
  const project = await findProjectById(projectId);
  return project && storageIdOf(project.storage) === storageId ? bucketOf(project) : undefined;
};

const uploadIn = ({ uploadId, objectKey: key }: DueEntry) => (uploadId && key ? [{ key, uploadId }] : []);

const bucketNameOf = ({ projectId, storageId }: DueEntry): string =>
  storageId === managedStorageId ? managedStorageId : `${projectId} ${storageId}`;

const isGivenUp = ({ storageId, first }: DueEntry): boolean =>
  storageId !== managedStorageId && clock.now() - first > patienceMs;

/** One run of the cleanup; remembers which storages failed in it. */
class CleanupRun {
  /** Entries rescheduled because their storage failed or another run held the file. */
  postponed = 0;
  readonly #failures = new Map<string, number>();
  readonly #check: DeleteIfOrphan | undefined;

  constructor(check: DeleteIfOrphan | undefined) {
    this.#check = check;
  }

  /** Cleans up some paths and returns how many are done. Can be repeated, because the entries go last. */
  async settle(entries: readonly DueEntry[]): Promise<number> {
    let settled = 0;
    const found = new Map<DueEntry, CleanupTask>();
    await mapConcurrent(entries, concurrency, async (entry) =>
      found.set(entry, await findUnneeded(entry, this.#check)),
    );
    await mapConcurrent([...Map.groupBy(entries, bucketNameOf)], concurrency, async ([place, group]) => {
      const removed = await this.#remove(place, group, found);
      await mapConcurrent(group, concurrency, async (entry) => {
        const { release, isHeld, isAwaited } = found.get(entry) ?? {};
        await release?.();
        if (isAwaited) await awaitConfirmation(entry);
        else if (await this.#finish(entry, removed && !isHeld)) settled++;
      });
    });
    return settled;
  }

  /** False if a later run has to retry. */
  async #remove(
    place: string,
    [first, ...more]: readonly DueEntry[],
    found: ReadonlyMap<DueEntry, UnneededObjects>,
  ): Promise<boolean> {
    if (!first) return true;
    const failures = this.#failures.get(place) ?? 0;
    if (failures >= maxFailures(first.storageId)) return false;
    const all = [first, ...more].flatMap((entry) => found.get(entry)?.keys ?? []);
    try {
      await timed(externalLimitMs, async () => {
        const bucket = await bucketFor(first);
        await mapConcurrent([first, ...more].flatMap(uploadIn), concurrency, async (upload) =>
          bucket?.parts?.abort(upload),
        );
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

/** The job has 5 minutes; a page takes less than one. */
const runMs = 3 * 60_000;

const queues: readonly DueQueue[] = ['managed', 'external'];

const sweepOf = (queue: DueQueue, settlement: CleanupRun, limitMs: number): Job<readonly DueEntry[]> => {
  const now = clock.now();
  return {
    due: () => dueUploads(queue, now),
    dueAt: ([first]) => first?.due ?? now,
    step: (entries) => settlement.settle(entries),
    concurrency: shards,
    limitMs,
  };
};

/**
 * The most overdue come first. `check` deletes files of documents that no longer exist. Returns the number of paths
 * that are done.
 */
export const sweepUploads = async (limitMs = runMs, check?: DeleteIfOrphan): Promise<number> => {
  const settlement = new CleanupRun(check);
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
