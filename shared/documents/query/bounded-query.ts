import { hash } from 'node:crypto';
import { type Db, MongoNetworkTimeoutError } from 'mongodb';
import { customerUriOf, onCollection } from '../../collections/find-collections.ts';
import { setBounded } from '../../core/cache.ts';
import { clock } from '../../core/clock.ts';
import { AppError, statusOf } from '../../core/errors.ts';
import { currentRequest } from '../../core/log.ts';
import { itemKey, partitionKey, projectScope } from '../../persistence/item-keys.ts';
import { type Lock, withLock } from '../../persistence/lease.ts';
import { isOverdue } from '../../persistence/mongo-commands.ts';
import { queryTooSlow } from '../../persistence/mongo-errors.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import * as kinds from '../../persistence/table-keys.ts';
import type { Project } from '../../projects/project.ts';

/** A read that takes no longer needs no turn; nor does one that a busy machine keeps waiting. */
const quickMs = 1000;

/** The same in a project of which a long read was found within a minute, so that its next ones cost others less. */
const suspectedQuickMs = 250;

/** Reads that this process has found to be long, and when: for a minute they are not tried without a turn. */
const found = new Map<string, number>();
const rememberedMs = 60_000;
const rememberedReads = 1000;

/** When one was found in a project, by its id: only then is a read told apart from others, which takes a hash. */
const suspected = new Map<string, number>();
const rememberedProjects = 1000;

const isRecent = (known: ReadonlyMap<string, number>, key: string): boolean =>
  clock.now() - (known.get(key) ?? 0) < rememberedMs;

/** After it began, a request waits so long at most: two reads of 5 s may follow, and a function has 29 s. */
const patienceMs = 15_000;

/** A request to a project's own database is given up after 20 s, of which the read may take 5. */
const ownPatienceMs = 14_000;

const patienceLeft = (patience: number): number => {
  const startedAt = currentRequest.getStore()?.startedAt;
  return startedAt === undefined ? patience : Math.max(0, patience - (performance.now() - startedAt));
};

/** What is read: by a pipeline, or in any other way. */
type Kind = 'aggregation' | 'query';

const advice =
  'a read of this project that takes longer than a second is under way, and one at a time may. Try again when it has ended, send them one after the other, or make them quicker:';

const refusals: Readonly<Record<Kind, (retryAfter: number) => AppError>> = {
  aggregation: (retryAfter) => {
    const message = `The aggregation has to wait: ${advice} filter in a first $match that an index serves.`;
    return new AppError('TOO_MANY_AGGREGATIONS', message, { retryAfter });
  },
  query: (retryAfter) => {
    const message = `The query has to wait: ${advice} add an index that serves its filters and sort (GET /api/projects/:projectId/usage/missing-indexes of the dashboard API names it).`;
    return new AppError('TOO_MANY_SLOW_QUERIES', message, { retryAfter });
  },
};

const isTimeout = (error: unknown): boolean => error instanceof AppError && error.code === 'QUERY_TIMEOUT';

const isDown = (error: unknown): boolean => error instanceof AppError && statusOf[error.code] === 503;

/** True if the database said nothing for longer than a read may take. */
const wasSilent = (error: unknown): boolean =>
  error instanceof AppError && (isOverdue(error.cause) || error.cause instanceof MongoNetworkTimeoutError);

/** True of a `QUERY_TIMEOUT` of a read that was given up in silence. */
const wasLeft = (error: unknown): boolean => isTimeout(error) && wasSilent((error as AppError).cause);

/** The database may be at a read that was given up in silence for so long yet: no other takes its place meanwhile. */
const goesOnMs = 10_000;

/** Long reads of a project go one at a time: with two, on two cores, the p95 of others was three times as long. */
export const lockOf = (projectId: string, kind: Kind, patience = patienceMs): Lock => ({
  key: itemKey(kinds.longReads, partitionKey('rate', { source: projectScope(projectId) })),
  leaseMs: maxTimeMS + goesOnMs,
  goesOn: wasLeft,
  patienceMs: patience,
  refusal: refusals[kind],
});

/**
 * Of the five connections that a process has to our database, reads of one project take at most three, or two once a
 * long read was found there, and its long one another, so that those of other projects need not wait; of the two to a
 * project's own database both.
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

/** Runs a read together with so many others of its project in this process at most. */
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
    // Reads that wait for a database that is down would find the same, too late.
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
 * True if our database answers a ping: it ends a read between two documents only, so that one pattern may keep it silent
 * for seconds. A customer's database is not asked, because its connections may have been lost on the way.
 */
const isThere = async (project: Project, name: string): Promise<boolean> =>
  customerUriOf(project, name) === undefined &&
  onCollection(project, name, (db) => db.command({ ping: 1 }), pingLimitMs).then(
    () => true,
    () => false,
  );

/** Sends the read. That it takes long is no failure of the database, and takes nothing off what later calls may take. */
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
 * In the turn of the project; one that was held up before, and now is quick, needs none the next time. Without the table
 * there are no turns, and reads go on within the lanes of this process.
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
 * Reads what a caller's conditions choose, which alone says how long it takes: `read` is given the database that holds
 * the collection, and the milliseconds that its command may take. In the database that projects share, one that is not
 * done in a second begins again in its project's turn, so that what takes long is bounded and what is quick costs
 * nothing. No turn within 15 s of the request → 429 `TOO_MANY_SLOW_QUERIES`, for a pipeline `TOO_MANY_AGGREGATIONS`;
 * over 5 s → 400 `QUERY_TIMEOUT`. `asked` tells reads of a collection apart, whoever asks.
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
      // It has had its five seconds.
      if (wasLeft(error)) throw error;
    }
  }
  return runLong(project, key, kind, run);
};
