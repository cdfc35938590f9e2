import { currentRequest } from '../core/log.ts';
import { deadline } from './deadline.ts';

class Overdue extends Error {
  override readonly name = 'Overdue';
}

/** True for the error `timed` rejects with when the outside system did not answer in time. */
export const isOverdue = (error: unknown): boolean => error instanceof Overdue;

/** How long after its beginning a request waits for what is a project's own: its function has some time more. */
const ownLimitMs = 20_000;

/** Minimum time for a call when earlier failures used up the limit: enough if the system has recovered. */
const minMs = 250;

/**
 * Runs one call to an outside system: adds its time to the request's record and gives up after `limitMs`, so that a
 * system that hangs costs the caller a bounded time. What failed calls have cost a request is taken off the limit of
 * its next ones, such as those that tidy up.
 */
export const timed = async <T>(limitMs: number, run: () => Promise<T>): Promise<T> => {
  const record = currentRequest.getStore();
  const leftMs = Math.max(minMs, limitMs - (record?.lostMs ?? 0));
  const start = performance.now();
  const overdue = Promise.withResolvers<never>();
  const callOff = deadline(leftMs, () => overdue.reject(new Overdue(`No answer within ${Math.round(leftMs)} ms`)));
  try {
    return await Promise.race([run(), overdue.promise]);
  } catch (error) {
    if (record) record.lostMs = (record.lostMs ?? 0) + performance.now() - start;
    throw error;
  } finally {
    callOff();
    if (record) record.databaseMs += performance.now() - start;
  }
};

/** The same for what is a project's own, which cannot bring a request near the end of its function's time. */
export const timedOwn = <T>(limitMs: number, run: () => Promise<T>): Promise<T> => {
  const startedAt = currentRequest.getStore()?.startedAt;
  const leftMs = startedAt === undefined ? limitMs : ownLimitMs - (performance.now() - startedAt);
  return timed(Math.min(limitMs, leftMs), run);
};
