import { AsyncLocalStorage } from 'node:async_hooks';
import type { ObjectId } from 'mongodb';
import { logSettings } from './config.ts';
import { isOurs } from './errors.ts';

/** The ids that a request stores: the same in each of its runs. */
export interface RequestIds {
  readonly next: () => ObjectId;
  /** The first ids, if an earlier run may have used them. */
  readonly earlier: ((count: number) => readonly ObjectId[]) | undefined;
}

/** The fields of a request's log line, filled in while it runs. */
export interface RequestRecord {
  readonly requestId: string;
  readonly route: string;
  projectId?: string;
  /** By `performance.now()`. */
  readonly startedAt?: number;
  /** The code of its error. */
  code?: string;
  /** Time spent waiting for MongoDB and DynamoDB. */
  databaseMs: number;
  /** Set for a request with an `Idempotency-Key`. */
  ids?: RequestIds;
  /** The part of `databaseMs` spent on failed calls. */
  lostMs?: number;
}

/** The running request; clients add to it. */
export const currentRequest = new AsyncLocalStorage<RequestRecord>();

/** Scheduled jobs have no request id. */
interface JobRecord {
  requestId?: string;
}

const currentJob = new AsyncLocalStorage<JobRecord>();

/** Runs one unit of work of a job, in which `workFor` sets the request id. */
export const runJob = <T>(work: () => T): T => currentJob.run({}, work);

/** Sets the request id of this unit of work's log lines. */
export const workFor = (requestId: string | undefined): void => {
  const job = currentJob.getStore();
  if (job && requestId !== undefined) job.requestId = requestId;
};

/** Id of the current request, or of the request for which the job works. */
export const requestIdNow = (): string | undefined =>
  currentRequest.getStore()?.requestId ?? currentJob.getStore()?.requestId;

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
