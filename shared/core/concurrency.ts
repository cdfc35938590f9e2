import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/** What is worked on, and when its next step may begin. */
interface Work {
  free: Promise<void>;
}

const background = new AsyncLocalStorage<Work>();

/**
 * Runs work that no request waits for. However much of it goes on at once, it takes one step after the other on the
 * database that all share, and after each leaves that to requests for as long.
 */
export const throttled = <T>(act: () => Promise<T>): Promise<T> => {
  const work: Work = { free: Promise.resolve() };
  return background.run(work, async () => {
    try {
      return await act();
    } finally {
      await work.free;
    }
  });
};

/** What takes longer is long by itself, or waits for a database that recovers, and keeps no other step waiting. */
const maxStepMs = 1000;

/** Takes a step: in the background when it is its turn. What a step is made of waits for no turn. */
export const throttledStep = async <T>(step: () => Promise<T>): Promise<T> => {
  const work = background.getStore();
  if (!work) return step();
  const { promise, resolve } = Promise.withResolvers<void>();
  const turn = work.free;
  work.free = promise;
  await turn;
  const start = performance.now();
  const late = setTimeout(resolve, maxStepMs);
  try {
    return await background.exit(step);
  } finally {
    clearTimeout(late);
    const ms = performance.now() - start;
    if (ms < maxStepMs) {
      setTimeout(resolve, ms);
    } else {
      // It may have ended before the timer that it is later than: where the process stood still.
      resolve();
      await pause(maxStepMs);
    }
  }
};

/**
 * Does together what is asked for one by one: one at a time, each with all that came while the one before was done.
 * Whoever asks waits for the end of what does theirs, and fails where it does.
 */
export const batched = <T>(act: (all: readonly T[]) => Promise<void>): ((one: T) => Promise<void>) => {
  let waiting: T[] = [];
  let last: Promise<void> = Promise.resolve();
  const actOnAll = (): Promise<void> => {
    const all = waiting;
    waiting = [];
    return act(all);
  };
  return (one) => {
    waiting.push(one);
    if (waiting.length === 1) last = last.then(actOnAll, actOnAll);
    return last;
  };
};
