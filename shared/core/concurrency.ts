import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';

interface Work {
  free: Promise<void>;
}

const background = new AsyncLocalStorage<Work>();

/**
 * Runs background work. Its steps on the shared database run one by one, and each is followed by an equally long pause,
 * so that requests come first.
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

/** A longer step does not delay the next one: it is long on its own, or waits for a database that recovers. */
const maxStepMs = 1000;

/** Runs a step when it is its turn, or immediately outside of `throttled`. Steps inside a step do not wait. */
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
      // After the process stood still, the step can end before its own timer fires.
      resolve();
      await pause(maxStepMs);
    }
  }
};

/** Batches calls made while the previous batch is running. Each caller waits for its batch and fails with it. */
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

/** Runs `act` for each item, at most `concurrency` at the same time. Throws the first error after all have ended. */
export const mapConcurrent = async <T>(
  items: readonly T[],
  concurrency: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> => {
  const waiting = items.values();
  const lane = async (): Promise<void> => {
    for (const item of waiting) await act(item);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(concurrency, items.length) }, lane));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
};
