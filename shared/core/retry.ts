import { AppError } from './errors.ts';

/** Each conflict lets one caller succeed, so fewer concurrent callers never run out of attempts. */
const maxAttempts = 200;

/**
 * Repeats `attempt` until it returns a value; `null` means that another writer was faster. After the last attempt → 503
 * `TOO_MANY_WRITERS` with the message `busy`.
 */
export const retryOnConflict = async <T>(
  busy: string,
  attempt: (number: number) => Promise<T | null>,
  attempts = maxAttempts,
): Promise<T> => {
  for (let number = 0; number < attempts; number += 1) {
    const written = await attempt(number);
    if (written !== null) return written;
  }
  throw new AppError('TOO_MANY_WRITERS', busy, { retryAfter: 1 });
};

/** Returns the result of a write, or what `taken` returns or throws on a duplicate key. */
export const onDuplicateKey = async <T, U>(write: Promise<T>, taken: (error: AppError) => U): Promise<T | U> => {
  try {
    return await write;
  } catch (error) {
    if (error instanceof AppError && error.code === 'DUPLICATE_VALUE') return taken(error);
    throw error;
  }
};

/**
 * Runs `act` after `ms` unless the returned function is called. After the process stood still, data that arrived is
 * read before the time counts as over.
 */
export const deadline = (ms: number, act: () => void): (() => void) => {
  let turn: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    turn = setImmediate(act);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
};
