import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { tableSettings } from '../core/config.ts';
import { publishCommands } from './publish-commands.ts';
import { serviceUnavailable } from './service-unavailable.ts';
import { timed } from './timed.ts';

/** Longest wait for one call, its one retry included. */
const callLimitMs = 4000;

/**
 * Steps of the SDK that nothing here reads; the rate count is on every request's path, so each of them is paid for
 * often.
 */
const unusedSteps = ['loggerMiddleware', 'recursionDetectionMiddleware', 'getUserAgentMiddleware'];

let client: DynamoDBClient | undefined;

const open = (): DynamoDBClient => {
  const made = new DynamoDBClient({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 1500, throwOnRequestTimeout: true },
    cacheMiddleware: true,
    accountIdEndpointMode: 'disabled',
  });
  for (const name of unusedSteps) made.middlewareStack.remove(name);
  return publishCommands(made, 'dynamodb');
};

/** True where a condition decided against the write: an answer, not a fault. */
const isDecision = (error: unknown): boolean =>
  error instanceof ConditionalCheckFailedException || error instanceof TransactionCanceledException;

/**
 * Runs one call on the table. A failed condition is thrown as the SDK throws it, for the caller to read;
 * everything else becomes `SERVICE_UNAVAILABLE`.
 */
export const onTable = async <T>(call: (client: DynamoDBClient, table: string) => Promise<T>): Promise<T> => {
  client ??= open();
  const dynamo = client;
  try {
    return await timed(callLimitMs, () => call(dynamo, tableSettings().TABLE_NAME));
  } catch (error) {
    if (isDecision(error)) throw error;
    throw serviceUnavailable(error);
  }
};

/** Closes this process's connections, so that scripts and tests can exit. */
export const closeDynamo = (): void => {
  client?.destroy();
  client = undefined;
};
