import { SQSClient } from '@aws-sdk/client-sqs';
import { createQueue } from '../infra/local/queues.ts';

/** Creates queues without consumers. */
export const makeQueues = async (endpoint: string, names: readonly string[]): Promise<string[]> => {
  const sqs = new SQSClient({ endpoint });
  const urls: string[] = [];
  for (const name of names) urls.push(await createQueue(sqs, endpoint, 'mail', `bench-${name}`));
  sqs.destroy();
  return urls;
};
