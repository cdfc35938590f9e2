import * as v from 'valibot';
import { workQueueSettings } from '../core/config.ts';
import { tryOrLog } from '../core/log.ts';
import { requestIdNow } from '../core/request.ts';
import { delayMessage, sendMessage, sendMessages } from './sqs.ts';

/** Attempts before a message goes to the dead-letter queue. */
export const workTries = 5;

/** Maximum time of a run; the rest is queued again. */
export const workMinutes = 5;

/** In seconds; longer than any run. */
export const workVisibilitySeconds = 15 * 60;

/** In any unit of time. */
export interface Backoff {
  readonly first: number;
  /** Factor per further failure. */
  readonly times: number;
  readonly most: number;
}

/** `failures` starts at 1. */
export const delayAfter = ({ first, times, most }: Backoff, failures: number): number =>
  Math.min(most, first * times ** (failures - 1));

/** In seconds: 30, then three times as long each time. */
export const workRetryDelay = (tries: number): number => delayAfter({ first: 30, times: 3, most: 3600 }, tries);

const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{24}$/));

const requestId = v.optional(v.pipe(v.string(), v.maxLength(100)));

const schema = v.pipe(
  v.string(),
  v.parseJson(),
  v.variant('task', [
    v.strictObject({ task: v.literal('purge-trash'), projectId: id, requestId }),
    v.strictObject({ task: v.literal('follow-references'), projectId: id, requestId }),
    v.strictObject({
      task: v.literal('remove-files'),
      projectId: id,
      collection: v.pipe(v.string(), v.maxLength(100)),
      requestId,
    }),
    v.strictObject({
      task: v.literal('run-effects'),
      projectId: id,
      collection: v.pipe(v.string(), v.maxLength(100)),
      requestId,
    }),
    v.strictObject({ task: v.literal('transfer'), transferId: id, requestId }),
  ]),
);

/** A message of the work queue, as JSON. Everything else is in the database. */
export type Task = v.InferOutput<typeof schema>;

export const parseTask = (body: string): Task | undefined => {
  const { success, output } = v.safeParse(schema, body);
  return success ? output : undefined;
};

const messageOf = (task: Task): string => JSON.stringify({ requestId: requestIdNow(), ...task });

/** Puts a task on the work queue; 503 `SERVICE_UNAVAILABLE` if the queue did not accept it. */
export const queueTask = (task: Task): Promise<void> =>
  sendMessage(workQueueSettings().WORK_QUEUE_URL, messageOf(task));

/** Queues a task. After an error the schedule finds it later, so the error is only logged. */
export const queueSoon = (task: Task): Promise<boolean> =>
  tryOrLog('warn', { message: 'A task waits for the schedule', ...task }, () => queueTask(task));

/** Puts up to ten tasks on the work queue in one call; returns how many it took. */
export const queueTasks = (tasks: readonly Task[]): Promise<number> =>
  sendMessages(workQueueSettings().WORK_QUEUE_URL, tasks.map(messageOf));

/** Makes a task visible again after this many seconds, instead of when its visibility timeout ends. */
export const delayTask = (receiptHandle: string, seconds: number): Promise<void> =>
  delayMessage(workQueueSettings().WORK_QUEUE_URL, receiptHandle, seconds);
