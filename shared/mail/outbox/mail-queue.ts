import { sendMessage, sendMessages, delayMessage as setDelay } from '../../clients/sqs.ts';
import { mailQueueSettings } from '../../core/config.ts';

/** Puts the id of a mail job on the queue; 503 `SERVICE_UNAVAILABLE` if the queue did not accept it. */
export const enqueueJob = (jobId: string): Promise<void> => sendMessage(mailQueueSettings().MAIL_QUEUE_URL, jobId);

/** Puts up to ten ids on the queue in one call; returns how many it took. */
export const enqueueJobs = (jobIds: readonly string[]): Promise<number> =>
  sendMessages(mailQueueSettings().MAIL_QUEUE_URL, jobIds);

/** Makes a message visible again after this many seconds, instead of when its visibility timeout ends. */
export const delayMessage = (receiptHandle: string, seconds: number): Promise<void> =>
  setDelay(mailQueueSettings().MAIL_QUEUE_URL, receiptHandle, seconds);
