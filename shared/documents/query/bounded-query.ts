import { hash } from 'node:crypto';
import { type Db, MongoNetworkTimeoutError } from 'mongodb';
import { customerUriOf, onCollection } from '../../collections/find-collections.ts';
import { setBounded } from '../../core/cache.ts';
import { clock } from '../../core/clock.ts';
import { AppError, statusOf } from '../../core/errors.ts';
import { currentRequest } from '../../core/request.ts';
import { itemKey, partitionKey, projectScope } from '../../persistence/item-keys.ts';
import { type Lock, withLock } from '../../persistence/lease.ts';
import { isOverdue } from '../../persistence/mongo-commands.ts';
import { queryTooSlow } from '../../persistence/mongo-errors.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import * as kinds from '../../persistence/table-keys.ts';
import type { Project } from '../../projects/project.ts';

/** A faster read needs no lock, even on a busy machine. */
const quickMs = 1000;

/** The same limit in a project with a long read in the last minute, so that its next long reads cost others less. */
const suspectedQuickMs = 250;

/** The long reads that this process has found, and when. For a minute they need the lock from the start. */
const found = new Map<string, number>();
const rememberedMs = 60_000;
const rememberedReads = 1000;

/** When a long read was found in a project, by id. Only then are reads identified, which costs a hash. */
const suspected = new Map<string, number>();
const rememberedProjects = 1000;

const isRecent = (known: ReadonlyMap<string, number>, key: string): boolean =>
  clock.now() - (known.get(key) ?? 0) < rememberedMs;

/** The longest wait of a request since its start: two reads of 5 s may follow, and a function has 29 s. */
const patienceMs = 15_000;

/** A request to a customer's database ends after 20 s, of which the read may take 5 s. */
const ownPatienceMs = 14_000;

const patienceLeft = (patience: number): number => {
  const startedAt = currentRequest.getStore()?.startedAt;
  return startedAt === undefined ? patience : Math.max(0, patience - (performance.now() - startedAt));
};

/** The kind of read: a pipeline or any other. */
type Kind = 'aggregation' | 'query';

const advice =
  'another read of this project takes longer than a second, and only one such read can run at a time. Retry later, send such reads one after the other, or make them faster:';

const refusals: Readonly<Record<Kind, (retryAfter: number) => AppError>> = {
  aggregation: (retryAfter) => {
    const message = `The aggregation cannot run now: ${advice} filter in a first $match that an index serves.`;
    return new AppError('TOO_MANY_AGGREGATIONS', message, { retryAfter });
  },
  query: (retryAfter) => {
    const message = `The query cannot run now: ${advice} add an index that serves its filters and sort (GET /api/projects/:projectId/usage/missing-indexes of the dashboard API names it).`;
    return new AppError('TOO_MANY_SLOW_QUERIES', message, { retryAfter });
  },
};

const isTimeout = (error: unknown): boolean => error instanceof AppError && error.code === 'QUERY_TIMEOUT';

const isDown = (error: unknown): boolean => error instanceof AppError && statusOf[error.code] === 503;

/** True if the database did not answer within the limit of a read. */
const wasSilent = (error: unknown): boolean =>
  error instanceof AppError && (isOverdue(error.cause) || error.cause instanceof MongoNetworkTimeoutError);

/** True for the `QUERY_TIMEOUT` of a read that was abandoned without an answer. */
const wasLeft = (error: unknown): boolean => isTimeout(error) && wasSilent((error as AppError).cause);

/** The database may continue an abandoned read for this long, so no other read takes its place. */
const goesOnMs = 10_000;

/** Long reads of a project run one at a time. With two, on two cores, the p95 of other projects tripled. */
export const lockOf = (projectId: string, kind: Kind, patience = patienceMs): Lock => ({
  key: itemKey(kinds.longReads, partitionKey('rate', { source: projectScope(projectId) })),
  leaseMs: maxTimeMS + goesOnMs,
  goesOn: wasLeft,
  patienceMs: patience,
  refusal: refusals[kind],
});

/**
 * The maximum number of parallel reads of one project. A process has five connections to our database: three for a
 * project, or two once it had a long read, which uses another. A customer's database has two, both for its project.
 */
const lanes = { managed: 3, suspected: 2, external: 2 } as const;

interface Waiter {
  readonly enter: () => void;
  readonly fail: (error: unknown) => void;
}

interface Lane {
  running: number;
  readonly waiting: Waiter[];
}

const running = new Map<string, Lane>();

const admitted = (lane: Lane, patience: number, refusal: (retryAfter: number) => AppError): Promise<void> =>
  new Promise((resolve, reject) => {
    const waiter: Waiter = {
      enter: () => {
        clearTimeout(late);
        resolve();
      },
      fail: (error) => {
        clearTimeout(late);
        reject(error);
      },
    };
    const late = setTimeout(() => {
      lane.waiting.splice(lane.waiting.indexOf(waiter), 1);
      reject(refusal(1));
    }, patience);
    lane.waiting.push(waiter);
  });

/** Runs a read with at most `most` others of its project in this process. */
const inLane = async <T>(
  key: string,
  most: number,
  patience: number,
  kind: Kind,
  run: () => Promise<T>,
): Promise<T> => {
  const lane = running.get(key) ?? { running: 0, waiting: [] };
  if (lane.running >= most) {
    await admitted(lane, patienceLeft(patience), refusals[kind]);
  } else {
    lane.running += 1;
    running.set(key, lane);
  }
  const leave = () => {
    const next = lane.waiting.shift();
    if (next) next.enter();
    else lane.running -= 1;
    if (lane.running === 0) running.delete(key);
  };
  let isOver = true;
  try {
    return await run();
  } catch (error) {
    isOver = !wasLeft(error);
    // Waiting reads would find the database down too, only later.
    if (isDown(error)) for (const waiter of lane.waiting.splice(0)) waiter.fail(error);
    throw error;
  } finally {
    if (isOver) leave();
    else setTimeout(leave, goesOnMs).unref();
  }
};

/** The read has taken 5.4 s before, so a database that does not answer is reported within 7.5 s. */
const pingLimitMs = 2000;

/**
 * True if our database answers a ping. It can only interrupt a read between two documents, so a single pattern may
 * keep it silent for seconds. A customer's database is not asked, because its connections may be lost.
 */
const isThere = async (project: Project, name: string): Promise<boolean> =>
  customerUriOf(project, name) === undefined &&
  onCollection(project, name, (db) => db.command({ ping: 1 }), pingLimitMs).then(
    () => true,
    () => false,
  );

/** Sends the read. A long read is not a failure of the database, and does not reduce the time of later calls. */
const send = async <T>(
  project: Project,
  name: string,
  read: (db: Db, limitMs: number) => Promise<T>,
  limitMs: number,
): Promise<T> => {
  const record = currentRequest.getStore();
  const lostMs = record?.lostMs ?? 0;
  try {
    return await onCollection(project, name, (db) => read(db, limitMs));
  } catch (error) {
    const lostNow = record?.lostMs;
    if (record) record.lostMs = lostMs;
    if (isTimeout(error)) throw error;
    if (wasSilent(error) && (await isThere(project, name))) throw queryTooSlow(error);
    if (record && lostNow !== undefined) record.lostMs = lostNow;
    throw error;
  }
};

/**
 * Runs a read under the lock of its project. One that was long before and is now quick needs no lock the next time.
 * Without the table there is no lock, and reads only share the lanes of this process.
 */
const runLong = async <T>(
  { id }: Project,
  key: string,
  kind: Kind,
  run: (limitMs: number) => Promise<T>,
): Promise<T> => {
  let hasBegun = false;
  const act = async () => {
    hasBegun = true;
    const begin = performance.now();
    const result = await run(maxTimeMS);
    if (performance.now() - begin < suspectedQuickMs) found.delete(key);
    return result;
  };
  try {
    return await withLock(lockOf(id, kind, patienceLeft(patienceMs)), act);
  } catch (error) {
    if (hasBegun || !isDown(error)) throw error;
    return inLane(id, lanes.suspected, patienceMs, kind, act);
  }
};

/**
 * Runs a read that the caller's conditions select, so that only they determine its duration. `read` gets the
 * database of the collection and the limit of its command in milliseconds. In the shared database a read that takes
 * over a second starts again under its project's lock, so long reads are limited and quick ones cost nothing. Throws
 * 429 `TOO_MANY_SLOW_QUERIES`, or `TOO_MANY_AGGREGATIONS` for a pipeline, without the lock within 15 s of the
 * request; 400 `QUERY_TIMEOUT` after 5 s. `asked` identifies the read, for any caller.
 */
export const boundedQuery = async <T>(
  project: Project,
  name: string,
  asked: () => unknown,
  read: (db: Db, limitMs: number) => Promise<T>,
  kind: Kind = 'query',
): Promise<T> => {
  const { id } = project;
  const run = (limitMs: number) => send(project, name, read, limitMs);
  if (customerUriOf(project, name) !== undefined) {
    return inLane(`own ${id}`, lanes.external, ownPatienceMs, kind, () => run(maxTimeMS));
  }
  const toKey = () => hash('sha256', JSON.stringify([id, kind, name, asked()]), 'base64url');
  const isSuspected = isRecent(suspected, id);
  let key = isSuspected ? toKey() : undefined;
  if (key === undefined || !isRecent(found, key)) {
    try {
      const [most, limitMs] = isSuspected ? [lanes.suspected, suspectedQuickMs] : [lanes.managed, quickMs];
      return await inLane(id, most, patienceMs, kind, () => run(limitMs));
    } catch (error) {
      if (!isTimeout(error)) throw error;
      key ??= toKey();
      setBounded(found, key, clock.now(), rememberedReads);
      setBounded(suspected, id, clock.now(), rememberedProjects);
      // It already had its five seconds.
      if (wasLeft(error)) throw error;
    }
  }
  return runLong(project, key, kind, run);
};
