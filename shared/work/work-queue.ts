import { delayMessage, queueBatch, sendMessage, sendMessages } from '../clients/queue-messages.ts';
import { workQueueSettings } from '../core/config.ts';
import { requestIdNow } from '../core/log.ts';
import type { Task } from './task.ts';

/** The most that one `queueTasks` takes. */
export const taskBatch = queueBatch;

/** The message of a task, with the id of the request that asks for it. */
const messageOf = (task: Task): string => JSON.stringify({ requestId: requestIdNow(), ...task });

/** Puts a task on the work queue; 503 `SERVICE_UNAVAILABLE` if the queue did not accept it. */
export const queueTask = (task: Task): Promise<void> =>
  sendMessage(workQueueSettings().WORK_QUEUE_URL, messageOf(task));

/** Puts up to ten tasks on the work queue in one call; returns how many it took. */
export const queueTasks = async (tasks: readonly Task[]): Promise<number> => {
  const refused = await sendMessages(workQueueSettings().WORK_QUEUE_URL, tasks.map(messageOf));
  return tasks.length - refused.length;
};

/** Makes a task visible again after this many seconds, instead of when its visibility timeout ends. */
export const delayTask = (receiptHandle: string, seconds: number): Promise<void> =>
  delayMessage(workQueueSettings().WORK_QUEUE_URL, receiptHandle, seconds);
