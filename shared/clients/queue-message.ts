import { JsonClient } from './aws/json-client.ts';
import { serviceClient } from './service-client.ts';

interface Operations {
  readonly SendMessage: {
    input: { readonly QueueUrl: string; readonly MessageBody: string; readonly DelaySeconds: number };
    output: object;
  };
}

/** One short try: what sends such a message can do without it. */
const limits = { maxTries: 1, connectMs: 500, answerMs: 1000 } as const;

const queues = serviceClient(
  () => new JsonClient<Operations>({ service: 'sqs', version: 'AmazonSQS', json: '1.0', ...limits }),
  limits.answerMs,
);

/**
 * Puts a message on a queue that is handed out after some seconds, with a part of what the SDK costs a function; 503
 * `SERVICE_UNAVAILABLE` if the queue did not accept it within a second.
 */
export const sendLater = async (QueueUrl: string, MessageBody: string, DelaySeconds: number): Promise<void> => {
  await queues.on((client) => client.send('SendMessage', { QueueUrl, MessageBody, DelaySeconds }));
};

export const closeQueueMessages = queues.close;
