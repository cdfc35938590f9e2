import { clock } from '../core/clock.ts';

/** At most `lanes` at once; the first failure is thrown once nothing is under way any more. */
export const inLanes = async <T>(
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
export interface Pace {
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
  readonly pace: Pace;
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
    await inLanes(items, pace.lanes, async (item) => {
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
