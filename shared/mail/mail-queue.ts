import {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { onQueues } from '../clients/sqs.ts';
import { mailQueueSettings } from '../config.ts';

/** The most that one SendMessageBatch takes. */
export const queueBatch = 10;

/** Puts the id of a mail job on the queue; 503 `SERVICE_UNAVAILABLE` where the queue did not take it. */
export const enqueueJob = async (jobId: string): Promise<void> => {
  const { MAIL_QUEUE_URL } = mailQueueSettings();
  await onQueues((sqs) => sqs.send(new SendMessageCommand({ QueueUrl: MAIL_QUEUE_URL, MessageBody: jobId })));
};

/** Puts up to ten ids on the queue in one call; answers those that it did not take. */
export const enqueueJobs = async (jobIds: readonly string[]): Promise<readonly string[]> => {
  const Entries: SendMessageBatchRequestEntry[] = jobIds.map((jobId) => ({ Id: jobId, MessageBody: jobId }));
  const { MAIL_QUEUE_URL } = mailQueueSettings();
  const { Failed = [] } = await onQueues((sqs) =>
    sqs.send(new SendMessageBatchCommand({ QueueUrl: MAIL_QUEUE_URL, Entries })),
  );
  return Failed.flatMap(({ Id }) => Id ?? []);
};

/** Has the queue hand a message out again after this many seconds, instead of when its time runs out. */
export const delayMessage = async (receiptHandle: string, seconds: number): Promise<void> => {
  const { MAIL_QUEUE_URL } = mailQueueSettings();
  await onQueues((sqs) =>
    sqs.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: MAIL_QUEUE_URL,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }),
    ),
  );
};
