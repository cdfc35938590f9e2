import type { SQSRecord } from 'aws-lambda';
import { throttled } from '../../shared/core/concurrency.ts';
import { logFailure } from '../../shared/core/log.ts';
import { handleWebhookMessage } from '../../shared/webhooks/worker.ts';
import { fromQueue } from '../from-queue.ts';

/** Failed messages are dropped, because the schedule finds the webhook again. */
const deliver = async ({ body }: SQSRecord): Promise<boolean> => {
  try {
    await handleWebhookMessage(body);
  } catch (error) {
    logFailure({ job: 'deliver-webhooks' }, error);
  }
  return true;
};

export const handler = fromQueue((message) => throttled(() => deliver(message)));
