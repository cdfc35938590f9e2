import { AsyncLocalStorage } from 'node:async_hooks';
import type { ObjectId } from 'mongodb';
import { logSettings } from './config.ts';
import { isOurs } from './errors.ts';

/** The ids of what one request stores, the same in each run of it. */
export interface RequestIds {
  readonly next: () => ObjectId;
  /** The first of them, where an earlier run may have used them. */
  readonly earlier: ((count: number) => readonly ObjectId[]) | undefined;
}

/** What the log line of a request contains besides its status; filled in while the request runs. */
export interface RequestRecord {
  readonly requestId: string;
  readonly route: string;
  projectId?: string;
  /** When it began, by `performance.now()`. */
  readonly startedAt?: number;
  /** What it failed with, if it did. */
  code?: string;
  /** Milliseconds spent waiting for MongoDB and DynamoDB. */
  databaseMs: number;
  /** Where the ids come from of what a request with an `Idempotency-Key` stores. */
  ids?: RequestIds;
  /** The part of `databaseMs` that was spent on calls that failed. */
  lostMs?: number;
}

/** The record of the request that is running, so that the clients can add to it without being handed it. */
export const currentRequest = new AsyncLocalStorage<RequestRecord>();

/** The request on whose behalf a job runs; scheduled jobs have none. */
interface JobRecord {
  requestId?: string;
}

const currentJob = new AsyncLocalStorage<JobRecord>();

/** Runs one unit of work of a job; inside it, `workFor` sets the request that it belongs to. */
export const runJob = <T>(work: () => T): T => currentJob.run({}, work);

/** Sets the request id that the log lines of this unit of work carry from now on. */
export const workFor = (requestId: string | undefined): void => {
  const job = currentJob.getStore();
  if (job && requestId !== undefined) job.requestId = requestId;
};

/** Id of the current request, or of the request that the current job works for; queued messages carry it along. */
export const requestIdNow = (): string | undefined =>
  currentRequest.getStore()?.requestId ?? currentJob.getStore()?.requestId;

const print = (level: 'info' | 'warn' | 'error' | 'debug', fields: Record<string, unknown>): void => {
  if (logSettings().LOG === 'silent') return;
  process.stdout.write(`${JSON.stringify({ level, ...fields, requestId: fields.requestId ?? requestIdNow() })}\n`);
};

/** The frames of a stack trace, without the message that precedes them. */
const framesOf = ({ stack = '' }: Error): string => stack.slice(Math.max(0, stack.search(/^ {4}at /m)));

/** What MongoDB says of a failure can quote a customer's documents, so of it only the code is kept. */
const messageOf = (error: Error & { readonly code?: unknown; readonly codeName?: unknown }): Record<string, unknown> =>
  error.name.startsWith('Mongo') ? { code: error.code, codeName: error.codeName } : { message: error.message };

/** Name, message or code, place and the chain of causes of a failure, for the log only. */
export const describeError = (error: unknown): Record<string, unknown> =>
  error instanceof Error
    ? {
        name: error.name,
        ...messageOf(error),
        stack: framesOf(error),
        ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
      }
    : { message: String(error) };

/** One JSON line an event. Never carries bodies, keys, tokens or URIs. */
export const log = {
  isDebug: (): boolean => logSettings().LOG === 'debug',
  info: (fields: Record<string, unknown>): void => print('info', fields),
  warn: (fields: Record<string, unknown>): void => print('warn', fields),
  error: (fields: Record<string, unknown>): void => print('error', fields),
  debug: (fields: Record<string, unknown>): void => {
    if (log.isDebug()) print('debug', fields);
  },
};

/** Does what nothing depends on: a failure is logged, and no more. False where it failed. */
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

/**
 * Logs what could not be done: as an error, which raises an alarm in a job, where the failure is ours, else as a
 * warning.
 */
export const logFailure = (fields: Readonly<Record<string, unknown>>, error: unknown): void => {
  const line = { ...fields, error: describeError(error) };
  if (isOurs(error)) log.error(line);
  else log.warn(line);
};
