import type { SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { runJob } from '../shared/core/request.ts';

/** Handles messages one by one and reports unfinished ones as failed, so that only those return to the queue. */
export const fromQueue =
  (isDone: (message: SQSRecord) => Promise<boolean>) =>
  async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const batchItemFailures: SQSBatchItemFailure[] = [];
    for (const record of Records) {
      if (!(await runJob(() => isDone(record)))) batchItemFailures.push({ itemIdentifier: record.messageId });
    }
    return { batchItemFailures };
  };
