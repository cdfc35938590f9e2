import * as v from 'valibot';
import { workQueueSettings } from '../core/config.ts';
import { requestIdNow, tryOrLog } from '../core/log.ts';
import { delayMessage, sendMessage, sendMessages } from './sqs.ts';

/** How often the queue hands a task out before the message goes to the dead-letter queue. */
export const workTries = 5;

/** The longest that one run of a task may take; what is left then is queued anew. */
export const workMinutes = 5;

/** Visibility timeout of the queue in seconds; longer than any run of the function. */
export const workVisibilitySeconds = 15 * 60;

/** How long something waits that failed, in any unit of time. */
export interface Backoff {
  readonly first: number;
  /** How many times longer it is each time. */
  readonly times: number;
  readonly most: number;
}

/** How long it waits that has failed so often, from 1. */
export const delayAfter = ({ first, times, most }: Backoff, failures: number): number =>
  Math.min(most, first * times ** (failures - 1));

/** Seconds until the next try after the `tries`-th one failed: 30 s, then three times as long each time. */
export const workRetryDelay = (tries: number): number => delayAfter({ first: 30, times: 3, most: 3600 }, tries);

const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{24}$/));

const requestId = v.optional(v.pipe(v.string(), v.maxLength(100)));

const schema = v.pipe(
  v.string(),
  v.parseJson(),
  v.variant('task', [
    v.strictObject({ task: v.literal('purge-trash'), projectId: id, requestId }),
    v.strictObject({ task: v.literal('follow-references'), projectId: id, requestId }),
    v.strictObject({ task: v.literal('transfer'), transferId: id, requestId }),
  ]),
);

/** A message of the work queue, as JSON; whatever it needs besides is in the database. */
export type Task = v.InferOutput<typeof schema>;

export const parseTask = (body: string): Task | undefined => {
  const { success, output } = v.safeParse(schema, body);
  return success ? output : undefined;
};

/** The message of a task, with the id of the request that asks for it. */
const messageOf = (task: Task): string => JSON.stringify({ requestId: requestIdNow(), ...task });

/** Puts a task on the work queue; 503 `SERVICE_UNAVAILABLE` if the queue did not accept it. */
export const queueTask = (task: Task): Promise<void> =>
  sendMessage(workQueueSettings().WORK_QUEUE_URL, messageOf(task));

/**
 * Asks for a task to be done soon. Where the queue does not take it the schedule finds it later, so that is no failure.
 */
export const queueSoon = (task: Task): Promise<boolean> =>
  tryOrLog('warn', { message: 'A task waits for the schedule', ...task }, () => queueTask(task));

/** Puts up to ten tasks on the work queue in one call; returns how many it took. */
export const queueTasks = (tasks: readonly Task[]): Promise<number> =>
  sendMessages(workQueueSettings().WORK_QUEUE_URL, tasks.map(messageOf));

/** Makes a task visible again after this many seconds, instead of when its visibility timeout ends. */
export const delayTask = (receiptHandle: string, seconds: number): Promise<void> =>
  delayMessage(workQueueSettings().WORK_QUEUE_URL, receiptHandle, seconds);
