import { AppError } from './errors.ts';

/** Every collision lets one caller win, so fewer parallel callers than this never run out of attempts. */
const maxAttempts = 200;

/**
 * What the first attempt returns that others were not in the way of; one that they were returns `null`, and the next
 * decides on what there is then. All in vain → 503 `TOO_MANY_WRITERS` with the message `busy`.
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

/** What a write returns; what `taken` returns or throws where a unique index has one of its values already. */
export const onDuplicateKey = async <T, U>(write: Promise<T>, taken: (error: AppError) => U): Promise<T | U> => {
  try {
    return await write;
  } catch (error) {
    if (error instanceof AppError && error.code === 'DUPLICATE_VALUE') return taken(error);
    throw error;
  }
};

/**
 * Runs `act` in `ms`, unless what it answers is called before. Timers come first where this process stood still, so
 * what arrived meanwhile is read before the time counts as up.
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
