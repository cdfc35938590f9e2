import type { Filter, UpdateFilter } from 'mongodb';
import { queueBatch } from '../clients/sqs.ts';
import { log } from '../core/log.ts';
import type { Leasable } from './lease.ts';
import { type PageJob, workThroughPages } from './page-job.ts';

/** Records whose work is done from a queue, which may lose it: they are due when it counts as lost. */
export interface Requeued<R extends Leasable> extends Pick<PageJob<R>, 'on' | 'due' | 'dueAt' | 'limitMs'> {
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
  const { name, on, dueAt, due, open, send, lostAt, limitMs } = job;
  const step = async (records: readonly R[]): Promise<number> => {
    const ids = records.map(({ _id }) => _id);
    if ((await send(ids.map(String))) < ids.length) return 0;
    const marked = { ...open, _id: { $in: ids } } as Filter<R>;
    await on((all) => all.updateMany(marked, { $max: { [dueAt]: lostAt() } } as UpdateFilter<R>));
    return ids.length;
  };
  const queued = await workThroughPages({ on, dueAt, due, projection: { _id: 1 }, page: queueBatch, step, limitMs });
  if (queued > 0) log.info({ job: name, queued });
  return queued;
};
