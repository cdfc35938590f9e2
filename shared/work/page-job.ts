import type { Collection, Document, Filter } from 'mongodb';
import type { Leasable } from './lease.ts';

/** A job that takes a page of records at once, and removes or marks them, so that they are not found again. */
export interface PageJob<R extends Leasable> {
  /** Runs an operation on the collection that they are in. */
  readonly on: <T>(operation: (records: Collection<R>) => Promise<T>) => Promise<T>;
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
  const { on, due, dueAt, projection, page, step, limitMs } = job;
  const end = performance.now() + limitMs;
  const options = { sort: { [dueAt]: 1 }, limit: page, maxTimeMS: 5000, ...(projection && { projection }) } as const;
  let done = 0;
  for (let last = page; last === page && performance.now() < end; ) {
    const records = await on((all) => all.find<R>(due(), options).toArray());
    last = records.length === 0 ? 0 : await step(records);
    done += last;
  }
  return done;
};
