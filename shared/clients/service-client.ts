import { AppError } from '../core/errors.ts';
import { timed } from './timed.ts';

/** The refusal where a part of the service does not answer: 503, with the cause for the log alone. */
export const serviceUnavailable = (cause: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'The service is not available right now. Please try again.', { cause });

/** Of clients whose calls are short: two tries, which together end within 4 s. */
export const shortTries = { maxTries: 2, connectMs: 1000, answerMs: 1500 };

/** Longest wait for one such call, its one retry included. */
export const shortCallMs = 4000;

/**
 * The one client of a service in this process, opened at its first call. `on` runs a call within `limitMs`, or a time
 * of its own: what `isDecision` says is an answer and no fault is thrown as it came, for the caller to read; everything
 * else becomes `SERVICE_UNAVAILABLE`. `close` ends its connections, so that scripts and tests can exit.
 */
export const serviceClient = <Client extends { destroy(): void }>(
  open: () => Client,
  limitMs = shortCallMs,
  isDecision = (_error: unknown): boolean => false,
) => {
  let client: Client | undefined;
  return {
    on: async <T>(call: (client: Client) => Promise<T>, withinMs = limitMs): Promise<T> => {
      client ??= open();
      const opened = client;
      try {
        return await timed(withinMs, () => call(opened));
      } catch (error) {
        throw isDecision(error) ? error : serviceUnavailable(error);
      }
    },
    close: (): void => {
      client?.destroy();
      client = undefined;
    },
  };
};
