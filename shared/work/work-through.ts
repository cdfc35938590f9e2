import { clock } from '../core/clock.ts';
import { inLanes } from './in-lanes.ts';

/** Where a job finds what is due, and what it does with each. */
export interface DueWork<T> {
  /** The next ones without those that this run has had, those that have waited longest first; none ends the run. */
  readonly next: (had: readonly T[]) => Promise<readonly T[]>;
  /** When one was due. */
  readonly dueAt: (item: T) => Date;
  /** True where it is done with; a failure is its own matter. */
  readonly act: (item: T) => Promise<boolean>;
  /** How many at the same time. */
  readonly lanes: number;
  /** None is begun after so long. */
  readonly limitMs: number;
}

/** What a run has done, and how far behind it is. */
export interface Worked {
  readonly done: number;
  /** For how long the oldest has been due that there was no time for; 0 where there is none. */
  readonly behindMinutes: number;
}

/** Does what is due until nothing is, each item at most once, or until the time is up; another run carries on. */
export const workThrough = async <T>({ next, dueAt, act, lanes, limitMs }: DueWork<T>): Promise<Worked> => {
  const end = performance.now() + limitMs;
  const had: T[] = [];
  let done = 0;
  for (let items = await next(had); items.length > 0; items = await next(had)) {
    const late: T[] = [];
    await inLanes(items, lanes, async (item) => {
      if (performance.now() >= end) late.push(item);
      else if (await act(item)) done++;
    });
    if (late.length > 0) {
      const oldest = Math.min(...late.map((item) => dueAt(item).getTime()));
      return { done, behindMinutes: Math.round((clock.now() - oldest) / 60_000) };
    }
    had.push(...items);
  }
  return { done, behindMinutes: 0 };
};
