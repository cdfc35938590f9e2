import type { SQSRecord } from 'aws-lambda';
import { throttled } from '../../shared/core/concurrency.ts';
import { logFailure } from '../../shared/core/log.ts';
import { takeWebhookMessage } from '../../shared/webhooks/worker.ts';
import { fromQueue } from '../from-queue.ts';

/** A message that fails is done with all the same: what it was about is due to the clock. */
const deliver = async ({ body }: SQSRecord): Promise<boolean> => {
  try {
    await takeWebhookMessage(body);
  } catch (error) {
    logFailure({ job: 'deliver-webhooks' }, error);
  }
  return true;
};

/** Delivers what webhooks are to be told of, those of one message at once. */
export const handler = fromQueue((message) => throttled(() => deliver(message)));
