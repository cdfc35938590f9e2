import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { tableSettings } from '../core/config.ts';
import { publishCommands } from './commands.ts';
import { serviceClient, shortCallMs, shortCalls } from './service-client.ts';

/** Steps of the SDK that nothing here reads; the rate count is on every request's path, so each is paid for often. */
const unusedSteps = ['loggerMiddleware', 'recursionDetectionMiddleware', 'getUserAgentMiddleware'];

const open = (): DynamoDBClient => {
  const made = new DynamoDBClient({ ...shortCalls, cacheMiddleware: true, accountIdEndpointMode: 'disabled' });
  for (const name of unusedSteps) made.middlewareStack.remove(name);
  return publishCommands(made, 'dynamodb');
};

/** True where a condition decided against the write: an answer, not a fault. */
const isDecision = (error: unknown): boolean =>
  error instanceof ConditionalCheckFailedException || error instanceof TransactionCanceledException;

const dynamo = serviceClient(open, shortCallMs, isDecision);

/** Runs one call on the table; a failed condition is thrown as the SDK throws it. */
export const onTable = <T>(call: (client: DynamoDBClient, table: string) => Promise<T>): Promise<T> =>
  dynamo.on((client) => call(client, tableSettings().TABLE_NAME));

export const closeDynamo = dynamo.close;
