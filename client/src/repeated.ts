import { BasaltError } from './basalt-error.ts';

const maxTries = 6;
const maxMs = 30_000;

const isPassing = ({ status, code }: BasaltError): boolean =>
  code === 'NO_ANSWER' || status === 503 || code === 'IDEMPOTENCY_IN_PROGRESS';

/** A failure of one try, and after how many seconds the service wants the next one. */
export class Failed {
  readonly error: BasaltError;
  readonly retryAfter: number;

  constructor(error: BasaltError, retryAfter = 0) {
    this.error = error;
    this.retryAfter = retryAfter;
  }
}

/** The failure of a request that no answer came to. */
export const unanswered = (cause: unknown): Failed => {
  const message = 'No answer: offline, a wrong address, or an origin that is not allowed.';
  return new Failed(new BasaltError({ code: 'NO_ANSWER', message }, cause));
};

/** Waits so long, or until it is given up. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });

/**
 * Tries up to 6 times and for up to 30 s, as long as failures are such that pass: a cut connection, 503, and 409
 * `IDEMPOTENCY_IN_PROGRESS`. Any other is thrown at once; a signal ends the tries and the waits between them.
 */
export const repeated = async <T>(once: () => Promise<T | Failed>, signal?: AbortSignal): Promise<T> => {
  const end = performance.now() + maxMs;
  for (let tries = 1; ; tries += 1) {
    const outcome = signal?.aborted ? unanswered(signal.reason) : await once();
    if (!(outcome instanceof Failed)) return outcome;
    if (signal?.aborted) {
      const message = 'Given up before the answer: it may have been done.';
      throw new BasaltError({ code: 'ABORTED', message }, signal.reason);
    }
    const { error, retryAfter } = outcome;
    const wait = Math.max(retryAfter * 1000, 100 * 2 ** tries * (0.5 + Math.random()));
    if (tries === maxTries || !isPassing(error) || performance.now() + wait > end) throw error;
    await pause(wait, signal);
  }
};
