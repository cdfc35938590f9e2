import { randomBytes } from 'node:crypto';
import { SQSClient } from '@aws-sdk/client-sqs';
import { localAccount } from '../../../infra/local/aws-account.ts';
import { createQueue } from '../../../infra/local/queues.ts';

/** Makes a mail queue on the queue service from which nobody takes anything; answers its URL. */
export const stillQueue = async (endpoint: string): Promise<string> => {
  const sqs = new SQSClient({ endpoint, ...localAccount });
  try {
    return await createQueue(sqs, endpoint, 'mail', `still-${randomBytes(4).toString('hex')}`);
  } finally {
    sqs.destroy();
  }
};
