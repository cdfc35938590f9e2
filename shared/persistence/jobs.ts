import type { Document, Filter, ObjectId, UpdateFilter } from 'mongodb';
import { clock } from '../core/clock.ts';
import { mapConcurrent } from '../core/concurrency.ts';
import { log, logFailure } from '../core/log.ts';
import { type Leasable, type Leased, leaseOf, reschedule } from './lease.ts';
import type { Records } from './records.ts';
import { queueBatch } from './sqs.ts';

/**
 * Durable work is a query, a step and a concurrency. Only a database knows what is due, so a run may be cut short
 * anywhere, and several may run at the same time.
 */
export interface Job<T> {
  /** Batches of what is due, the longest overdue first; each item once a run at most. */
  readonly due: () => AsyncIterable<readonly T[]>;
  /** When an item was due, in milliseconds since 1970. */
  readonly dueAt: (item: T) => number;
  /** Processes an item; returns how many it finished. An error ends the run. */
  readonly step: (item: T) => Promise<number>;
  readonly concurrency: number;
  /** No step begins after this time; another run continues. */
  readonly limitMs: number;
}

/** The result of a run. */
export interface Worked {
  readonly done: number;
  /** How long the oldest item that the run had no time for has been due; 0 if there is none. */
  readonly behindMinutes: number;
}

export const workThrough = async <T>({ due, dueAt, step, concurrency, limitMs }: Job<T>): Promise<Worked> => {
  const end = performance.now() + limitMs;
  let done = 0;
  for await (const items of due()) {
    const late: T[] = [];
    await mapConcurrent(items, concurrency, async (item) => {
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

/** A job whose step takes a page of records and removes or marks them, so that they are not found again. */
export interface PageJob<R extends Leasable> {
  readonly records: Records<R>;
  /** The stored name of the time when they are due, which is indexed. */
  readonly dueAt: string;
  readonly due: () => Filter<R>;
  /** What the step needs of them; everything by default. */
  readonly projection?: Document;
  readonly page: number;
  /** Returns how many of them it finished. May be repeated, and cut short anywhere. */
  readonly step: (records: readonly R[]) => Promise<number>;
  readonly limitMs: number;
}

/**
 * Processes pages, the longest overdue records first, until a page is not full or not finished. Returns how many were
 * finished. Costs one indexed query if nothing is due.
 */
export const workThroughPages = async <R extends Leasable>(job: PageJob<R>): Promise<number> => {
  const { records, due, dueAt, projection, page, step, limitMs } = job;
  const options = { sort: { [dueAt]: 1 }, limit: page, ...(projection && { projection }) } as const;
  let finished = page;
  async function* pages() {
    while (finished === page) {
      const found = await records.find<R>(due(), options);
      if (found.length === 0) return;
      yield [found];
    }
  }
  const { done } = await workThrough<readonly R[]>({
    due: pages,
    dueAt: () => clock.now(),
    step: async (found) => {
      finished = await step(found);
      return finished;
    },
    concurrency: 1,
    limitMs,
  });
  return done;
};

/** Records that are processed from a queue. They are due when their message counts as lost. */
export interface Requeued<R extends Leasable> extends Pick<PageJob<R>, 'records' | 'due' | 'dueAt' | 'limitMs'> {
  /** The job in the log. */
  readonly name: string;
  /** Matches unfinished records. */
  readonly open: Filter<R>;
  /** Puts up to ten ids on the queue; returns how many it took. */
  readonly send: (ids: readonly string[]) => Promise<number>;
  /** When a message that is queued now counts as lost. */
  readonly lostAt: () => Date;
}

/**
 * Queues again what is due. Records are marked after their messages are queued, because one message too many does no
 * harm. Stops if the queue refuses one. Returns how many were queued.
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

/** A scheduled job that processes due records one by one. */
export interface RecordJob<R extends Leasable> extends Leased<R>, Pick<Job<R>, 'concurrency' | 'limitMs'> {
  /** The job in the log. */
  readonly name: string;
  /** The field of the log that has the record's id. */
  readonly what: string;
  /** Matches unfinished records. */
  readonly open: () => Filter<R>;
  /** They are due this long after the time of their lease. */
  readonly quietMs: number;
  /** How many are read at a time. */
  readonly page: number;
  /** May be repeated, and cut short anywhere. True if the record is finished. */
  readonly step: (record: R) => Promise<boolean>;
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

/** Processes each due record once. A record whose step fails is rescheduled. */
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
    concurrency: job.concurrency,
    limitMs: job.limitMs,
  });
