import { AppError } from '../core/errors.ts';
import { timed } from './mongo-commands.ts';

/** The 503 of a part of the service that does not respond. The cause is for the log only. */
export const serviceUnavailable = (cause: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'The service is unavailable. Retry.', { cause });

/** For clients whose calls are short: two attempts, which together end within 4 s. */
export const shortTries = { maxTries: 2, connectMs: 1000, answerMs: 1500 };

/** Maximum time of such a call, its retry included. */
export const shortCallMs = 4000;

/**
 * The one client of a service in this process, opened by its first call. `on` runs a call within `limitMs` and turns
 * its error into `SERVICE_UNAVAILABLE`; errors that match `isDecision` are thrown unchanged. `close` ends the
 * connections, so that scripts and tests can exit.
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
