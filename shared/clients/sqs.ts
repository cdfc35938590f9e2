import { SQSClient } from '@aws-sdk/client-sqs';
import { AppError } from '../errors.ts';
import { commandChannel, type DatabaseCommand } from './commands.ts';
import { timed } from './timed.ts';

/** Longest wait for one call, its one retry included. */
const callLimitMs = 4000;

let client: SQSClient | undefined;

const open = (): SQSClient => {
  const made = new SQSClient({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 1500, throwOnRequestTimeout: true },
  });
  if (commandChannel.hasSubscribers) {
    made.middlewareStack.add(
      (next, { commandName }) =>
        (args) => {
          commandChannel.publish({ system: 'sqs', name: commandName ?? '' } satisfies DatabaseCommand);
          return next(args);
        },
      { step: 'initialize', name: 'publishCommand' },
    );
  }
  return made;
};

/** Runs one call on the queues; whatever fails becomes `SERVICE_UNAVAILABLE`. */
export const onQueues = async <T>(call: (client: SQSClient) => Promise<T>): Promise<T> => {
  client ??= open();
  const sqs = client;
  try {
    return await timed(callLimitMs, () => call(sqs));
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', 'The service is not available right now. Please try again.', {
      cause,
      retryAfter: 5,
    });
  }
};

/** Closes the connections of this process; for scripts and tests that want to end. */
export const closeSqs = (): void => {
  client?.destroy();
  client = undefined;
};
