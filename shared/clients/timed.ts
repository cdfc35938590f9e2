import { setTimeout } from 'node:timers';
import { currentRequest } from '../log.ts';

class Overdue extends Error {
  override readonly name = 'Overdue';
}

/** True for the error `timed` rejects with when the outside system did not answer in time. */
export const isOverdue = (error: unknown): boolean => error instanceof Overdue;

/**
 * Runs one call to an outside system: adds its time to the request's record and gives up after `limitMs`,
 * so that a system that hangs costs the caller a bounded time.
 */
export const timed = async <T>(limitMs: number, run: () => Promise<T>): Promise<T> => {
  const start = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Overdue(`No answer within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([run(), overdue]);
  } finally {
    clearTimeout(timer);
    const record = currentRequest.getStore();
    if (record) record.databaseMs += performance.now() - start;
  }
};
