import type { Document, Filter, UpdateFilter } from 'mongodb';
import type { Records } from '../clients/records.ts';
import { queueBatch } from '../clients/sqs.ts';
import { log } from '../core/log.ts';
import type { Leasable } from './lease.ts';

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
