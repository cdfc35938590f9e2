import type * as sdk from '@aws-sdk/client-dynamodb';
import { tableSettings } from '../core/config.ts';
import { JsonClient } from './aws/json-client.ts';
import { ServiceError } from './aws/service-error.ts';
import { serviceClient, shortCallMs, shortTries } from './service-client.ts';

/** What the table is asked; of the SDK there are only the types. */
interface Operations {
  readonly BatchWriteItem: { input: sdk.BatchWriteItemInput; output: sdk.BatchWriteItemOutput };
  readonly DeleteItem: { input: sdk.DeleteItemInput; output: sdk.DeleteItemOutput };
  readonly GetItem: { input: sdk.GetItemInput; output: sdk.GetItemOutput };
  readonly PutItem: { input: sdk.PutItemInput; output: sdk.PutItemOutput };
  readonly Query: { input: sdk.QueryInput; output: sdk.QueryOutput };
  readonly TransactGetItems: { input: sdk.TransactGetItemsInput; output: sdk.TransactGetItemsOutput };
  readonly TransactWriteItems: { input: sdk.TransactWriteItemsInput; output: sdk.TransactWriteItemsOutput };
  readonly UpdateItem: { input: sdk.UpdateItemInput; output: sdk.UpdateItemOutput };
}

export type Dynamo = JsonClient<Operations>;

const isNamed = (error: unknown, name: string): error is ServiceError =>
  error instanceof ServiceError && error.name === name;

/** The item as it was, where the condition of a single write decided against it; otherwise `undefined`. */
export const failedCondition = (error: unknown): { readonly Item?: sdk.PutItemInput['Item'] } | undefined =>
  isNamed(error, 'ConditionalCheckFailedException') ? error.answer : undefined;

/** Why each part of a transaction was not done, where it was cancelled as a whole; otherwise `undefined`. */
export const cancellation = (error: unknown): readonly sdk.CancellationReason[] | undefined =>
  isNamed(error, 'TransactionCanceledException')
    ? ((error.answer.CancellationReasons as sdk.CancellationReason[] | undefined) ?? [])
    : undefined;

/** True where a transaction held the item of a single write. */
export const isHeld = (error: unknown): boolean => isNamed(error, 'TransactionConflictException');

const dynamo = serviceClient(
  (): Dynamo => new JsonClient({ service: 'dynamodb', version: 'DynamoDB_20120810', json: '1.0', ...shortTries }),
  shortCallMs,
  // What a condition decided is an answer, and no fault.
  (error) => (failedCondition(error) ?? cancellation(error)) !== undefined,
);

/** Runs one call on the table; a failed condition is thrown as `ServiceError`. */
export const onTable = <T>(call: (client: Dynamo, table: string) => Promise<T>): Promise<T> =>
  dynamo.on((client) => call(client, tableSettings().TABLE_NAME));

export const closeDynamo = dynamo.close;
