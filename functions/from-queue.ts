import type { SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { runJob } from '../shared/core/log.ts';

/**
 * The handler of a queue's messages, which it takes one after the other. Those that are not done with are reported as
 * failed, so that the others of the batch are not.
 */
export const fromQueue =
  (isDone: (message: SQSRecord) => Promise<boolean>) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const batchItemFailures: SQSBatchItemFailure[] = [];
    for (const record of Records) {
      if (!(await runJob(() => isDone(record)))) batchItemFailures.push({ itemIdentifier: record.messageId });
    }
    return { batchItemFailures };
  };
