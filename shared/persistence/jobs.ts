import type { Document, Filter, ObjectId, UpdateFilter } from 'mongodb';
import { clock } from '../core/clock.ts';
import { log, logFailure } from '../core/log.ts';
import { type Leasable, type Leased, leaseOf, reschedule } from './lease.ts';
import type { Records } from './records.ts';
import { queueBatch } from './sqs.ts';

/** At most `lanes` at once; the first failure is thrown once nothing is under way any more. */
export const mapConcurrent = async <T>(
  items: readonly T[],
  lanes: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> => {
  const waiting = items.values();
  const lane = async (): Promise<void> => {
    for (const item of waiting) await act(item);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(lanes, items.length) }, lane));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
};

/** How fast a run works, and for how long. */
interface RunLimits {
  /** Steps at the same time. */
  readonly lanes: number;
  /** None is begun after so long; another run carries on. */
  readonly limitMs: number;
}

/**
 * Durable work is a query, a step and a pace. What is due is known to a database and to nothing else, so a job may be
 * cut short anywhere, and run any number of times at once.
 */
export interface Job<T> {
  /** What is due, some at a time, those that have waited longest first; each once a run at most. */
  readonly due: () => AsyncIterable<readonly T[]>;
  /** When one was due, in milliseconds since 1970. */
  readonly dueAt: (item: T) => number;
  /** Does one; returns how many are done with by that. A failure ends the run. */
  readonly step: (item: T) => Promise<number>;
  readonly pace: RunLimits;
}

/** What a run has done, and how far behind it is. */
export interface Worked {
  readonly done: number;
  /** For how long the oldest has been due that there was no time for; 0 where there is none. */
  readonly behindMinutes: number;
}

export const workThrough = async <T>({ due, dueAt, step, pace }: Job<T>): Promise<Worked> => {
  const end = performance.now() + pace.limitMs;
  let done = 0;
  for await (const items of due()) {
    const late: T[] = [];
    await mapConcurrent(items, pace.lanes, async (item) => {
      if (performance.now() >= end) {
        late.push(item);
        return;
      }
      const finished = await step(item);
      done += finished;
    });
    if (late.length > 0) {
      return { done, behindMinutes: Math.round((clock.now() - Math.min(...late.map(dueAt))) / 60_000) };
    }
  }
  return { done, behindMinutes: 0 };
};

/** A job that takes a page of records at once, and removes or marks them, so that they are not found again. */
export interface PageJob<R extends Leasable> {
  readonly records: Records<R>;
  /** The stored name of the time by which they are due; an index has it. */
  readonly dueAt: string;
  /** Matches those that are due now. */
  readonly due: () => Filter<R>;
  /** What the step needs of them; all of it if left out. */
  readonly projection?: Document;
  readonly page: number;
  /** Returns how many of them are done with. May be repeated, and cut short anywhere. */
  readonly step: (records: readonly R[]) => Promise<number>;
  /** No page is begun after so long; another run carries on. */
  readonly limitMs: number;
}

/**
 * Takes page after page of what is due, those that have waited longest first, until one is not full, or was not all
 * done, or the time is up; costs one indexed query where nothing is due. Returns how many are done with.
 */
export const workThroughPages = async <R extends Leasable>(job: PageJob<R>): Promise<number> => {
  const { records, due, dueAt, projection, page, step, limitMs } = job;
  const end = performance.now() + limitMs;
  const options = { sort: { [dueAt]: 1 }, limit: page, ...(projection && { projection }) } as const;
  let done = 0;
  for (let last = page; last === page && performance.now() < end; ) {
    const found = await records.find<R>(due(), options);
    last = found.length === 0 ? 0 : await step(found);
    done += last;
  }
  return done;
};

/** Records whose work is done from a queue, which may lose it: they are due when it counts as lost. */
export interface Requeued<R extends Leasable> extends Pick<PageJob<R>, 'records' | 'due' | 'dueAt' | 'limitMs'> {
  /** The job in the log. */
  readonly name: string;
  /** Matches those about which there is something to do. */
  readonly open: Filter<R>;
  /** Puts up to ten on the queue, by their ids; returns how many it took. */
  readonly send: (ids: readonly string[]) => Promise<number>;
  /** When one that is queued now counts as lost. */
  readonly lostAt: () => Date;
}

/**
 * Queues again what is due. Records are marked once their messages are on the queue, never as due earlier than they
 * say: a message too many does no harm. Stops where the queue refuses one. Returns how many were queued.
 */
export const requeue = async <R extends Leasable>(job: Requeued<R>): Promise<number> => {
  const { name, records, dueAt, due, open, send, lostAt, limitMs } = job;
  const step = async (lost: readonly R[]): Promise<number> => {
    const ids = lost.map(({ _id }) => _id);
    if ((await send(ids.map(String))) < ids.length) return 0;
    const marked = { ...open, _id: { $in: ids } } as Filter<R>;
    await records.updateMany(marked, { $max: { [dueAt]: lostAt() } } as UpdateFilter<R>);
    return ids.length;
  };
  const queued = await workThroughPages({
    records,
    dueAt,
    due,
    projection: { _id: 1 },
    page: queueBatch,
    step,
    limitMs,
  });
  if (queued > 0) log.info({ job: name, queued });
  return queued;
};

/** A job that the clock starts: it finds records that are due in MongoDB, and does what is to be done about each. */
export interface RecordJob<R extends Leasable> extends Leased<R> {
  /** In the log: the job, and what a record of it is. */
  readonly name: string;
  readonly what: string;
  /** Matches those about which there is something to do. */
  readonly open: () => Filter<R>;
  /** They are due so long after the time of their lease. */
  readonly quietMs: number;
  /** How many are read at once. */
  readonly page: number;
  /** May be repeated, and cut short anywhere. True where the record is done with. */
  readonly step: (record: R) => Promise<boolean>;
  readonly pace: RunLimits;
}

async function* dueRecords<R extends Leasable>({ records, lease, open, quietMs, page }: RecordJob<R>) {
  const had: ObjectId[] = [];
  for (;;) {
    const due = { ...open(), [lease]: { $lte: new Date(clock.now() - quietMs) }, _id: { $nin: had } } as Filter<R>;
    const options = { sort: { [lease]: 1 }, limit: page } as const;
    const found = await records.find<R>(due, options);
    if (found.length === 0) return;
    yield found;
    had.push(...found.map(({ _id }) => _id));
  }
}

/** Works through what is due: the longest waiting first, each once a run; one whose step fails is put off. */
export const workThroughRecords = <R extends Leasable>(job: RecordJob<R>): Promise<Worked> =>
  workThrough<R>({
    due: () => dueRecords(job),
    dueAt: (record) => leaseOf(job, record) + job.quietMs,
    step: async (record) => {
      try {
        return Number(await job.step(record));
      } catch (error) {
        logFailure({ job: job.name, [job.what]: record._id.toHexString() }, error);
        await reschedule(job, record).catch(() => undefined);
        return 0;
      }
    },
    pace: job.pace,
  });
