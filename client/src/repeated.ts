import { BasaltError } from './basalt-error.ts';

const maxTries = 6;
const maxMs = 30_000;

const isPassing = ({ status, code }: BasaltError): boolean =>
  code === 'NO_ANSWER' || status === 503 || code === 'IDEMPOTENCY_IN_PROGRESS';

/** A failed try, and the seconds after which the service allows the next one. */
export class Failed {
  readonly error: BasaltError;
  readonly retryAfter: number;

  constructor(error: BasaltError, retryAfter = 0) {
    this.error = error;
    this.retryAfter = retryAfter;
  }
}

/** The failure of a request without a response. */
export const unanswered = (cause: unknown): Failed => {
  const message = 'No response: offline, a wrong address, or an origin that is not allowed.';
  return new Failed(new BasaltError({ code: 'NO_ANSWER', message }, cause));
};

/** Waits, unless the signal ends it earlier. */
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
 * Tries up to 6 times within 30 s while failures are temporary: a lost connection, 503, and 409
 * `IDEMPOTENCY_IN_PROGRESS`. Other errors are thrown immediately. A signal ends the tries and the waits.
 */
export const repeated = async <T>(once: () => Promise<T | Failed>, signal?: AbortSignal): Promise<T> => {
  const end = performance.now() + maxMs;
  for (let tries = 1; ; tries += 1) {
    const outcome = signal?.aborted ? unanswered(signal.reason) : await once();
    if (!(outcome instanceof Failed)) return outcome;
    if (signal?.aborted) {
      const message = 'Aborted before the response: the request may have been executed.';
      throw new BasaltError({ code: 'ABORTED', message }, signal.reason);
    }
    const { error, retryAfter } = outcome;
    const wait = Math.max(retryAfter * 1000, 100 * 2 ** tries * (0.5 + Math.random()));
    if (tries === maxTries || !isPassing(error) || performance.now() + wait > end) throw error;
    await pause(wait, signal);
  }
};
