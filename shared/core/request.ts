import { AsyncLocalStorage } from 'node:async_hooks';
import type { ObjectId } from 'mongodb';
import type { AppError } from './errors.ts';

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
  /** The error that was sent. */
  refusal?: AppError;
  /** The kind of the project's key, and the user of a valid token. */
  keyKind?: 'publishable' | 'secret';
  userId?: string;
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
