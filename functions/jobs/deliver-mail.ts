import type { SQSRecord } from 'aws-lambda';
import { describeError, log } from '../../shared/core/log.ts';
import { deliverMail } from '../../shared/mail/deliver.ts';
import { delayMessage } from '../../shared/mail/queue.ts';
import { fromQueue } from '../from-queue.ts';

/** False keeps the message in the queue. */
const deliver = async ({ body, receiptHandle, attributes }: SQSRecord): Promise<boolean> => {
  try {
    const delivery = await deliverMail(body, Number(attributes.ApproximateReceiveCount));
    if (!delivery.done) await delayMessage(receiptHandle, delivery.retryIn);
    return delivery.done;
  } catch (error) {
    log.error({ job: 'deliver-mail', mail: body, error: describeError(error) });
    return false;
  }
};

/** One by one, because the provider's rate limit is low. */
export const handler = fromQueue(deliver);
