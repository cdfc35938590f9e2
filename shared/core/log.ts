import { logSettings } from './config.ts';
import { isOurs } from './errors.ts';
import { requestIdNow } from './request.ts';

const print = (level: 'info' | 'warn' | 'error' | 'debug', fields: Record<string, unknown>): void => {
  if (logSettings().LOG === 'silent') return;
  process.stdout.write(`${JSON.stringify({ level, ...fields, requestId: fields.requestId ?? requestIdNow() })}\n`);
};

/** A stack trace without its message. */
const framesOf = ({ stack = '' }: Error): string => stack.slice(Math.max(0, stack.search(/^ {4}at /m)));

/** MongoDB's messages can quote customers' documents, so only the code is logged. */
const messageOf = (error: Error & { readonly code?: unknown; readonly codeName?: unknown }): Record<string, unknown> =>
  error.name.startsWith('Mongo') ? { code: error.code, codeName: error.codeName } : { message: error.message };

/** For the log only. */
export const describeError = (error: unknown): Record<string, unknown> =>
  error instanceof Error
    ? {
        name: error.name,
        ...messageOf(error),
        stack: framesOf(error),
        ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
      }
    : { message: String(error) };

/** One JSON line per event, without bodies, keys, tokens and URIs. */
export const log = {
  isDebug: (): boolean => logSettings().LOG === 'debug',
  info: (fields: Record<string, unknown>): void => print('info', fields),
  warn: (fields: Record<string, unknown>): void => print('warn', fields),
  error: (fields: Record<string, unknown>): void => print('error', fields),
  debug: (fields: Record<string, unknown>): void => {
    if (log.isDebug()) print('debug', fields);
  },
};

/** Logs an error instead of throwing it. Returns false after an error. */
export const tryOrLog = async (
  level: 'warn' | 'error',
  fields: Readonly<Record<string, unknown>>,
  act: () => Promise<unknown>,
): Promise<boolean> => {
  try {
    await act();
    return true;
  } catch (error) {
    log[level]({ ...fields, error: describeError(error) });
    return false;
  }
};

/** Logs faults of the service as errors, which raise an alarm in a job, and other failures as warnings. */
export const logFailure = (fields: Readonly<Record<string, unknown>>, error: unknown): void => {
  const line = { ...fields, error: describeError(error) };
  if (isOurs(error)) log.error(line);
  else log.warn(line);
};
