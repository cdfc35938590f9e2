import { SQSClient } from '@aws-sdk/client-sqs';
import { publishCommands } from './publish-commands.ts';
import { serviceUnavailable } from './service-unavailable.ts';
import { timed } from './timed.ts';

/** Longest wait for one call, its one retry included. */
const callLimitMs = 4000;

let client: SQSClient | undefined;

const open = (): SQSClient => {
  const made = new SQSClient({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 1500, throwOnRequestTimeout: true },
  });
  return publishCommands(made, 'sqs');
};

/** Runs one call on the queues; whatever fails becomes `SERVICE_UNAVAILABLE`. */
export const onQueues = async <T>(call: (client: SQSClient) => Promise<T>): Promise<T> => {
  client ??= open();
  const sqs = client;
  try {
    return await timed(callLimitMs, () => call(sqs));
  } catch (cause) {
    throw serviceUnavailable(cause);
  }
};

/** Closes this process's connections, so that scripts and tests can exit. */
export const closeSqs = (): void => {
  client?.destroy();
  client = undefined;
};
