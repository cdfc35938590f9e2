import type * as sdk from '@aws-sdk/client-dynamodb';
import { tableSettings } from '../core/config.ts';
import { JsonClient, ServiceError } from './aws-client.ts';
import type { Key } from './item-keys.ts';
import { serviceClient, shortCallMs, shortTries } from './service-client.ts';

/** Only types of the SDK are used. */
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

/** Returns the item's previous state if a write's condition failed, otherwise `undefined`. */
export const failedCondition = (error: unknown): { readonly Item?: sdk.PutItemInput['Item'] } | undefined =>
  isNamed(error, 'ConditionalCheckFailedException') ? error.answer : undefined;

/** Returns the reason of each part of a cancelled transaction, otherwise `undefined`. */
export const cancellation = (error: unknown): readonly sdk.CancellationReason[] | undefined =>
  isNamed(error, 'TransactionCanceledException')
    ? ((error.answer.CancellationReasons as sdk.CancellationReason[] | undefined) ?? [])
    : undefined;

/** True if a transaction held the item of a single write. */
export const isHeld = (error: unknown): boolean => isNamed(error, 'TransactionConflictException');

const dynamo = serviceClient(
  (): Dynamo => new JsonClient({ service: 'dynamodb', target: 'DynamoDB_20120810', json: '1.0', ...shortTries }),
  shortCallMs,
  // A failed condition is a result, not a fault.
  (error) => (failedCondition(error) ?? cancellation(error)) !== undefined,
);

/** A failed condition throws `ServiceError`. */
export const onTable = <T>(call: (client: Dynamo, table: string) => Promise<T>): Promise<T> =>
  dynamo.on((client) => call(client, tableSettings().TABLE_NAME));

export const closeDynamo = dynamo.close;

/** A set is never empty. */
type Value = string | number | ReadonlySet<string>;

/** `undefined` is not stored. */
export type Values = Readonly<Record<string, Value | undefined>>;

export type Item = Readonly<Record<string, Value>>;

type Attribute = { S: string } | { N: string } | { SS: string[] };

const toAttribute = (value: Value): Attribute => {
  if (typeof value === 'string') return { S: value };
  return typeof value === 'number' ? { N: String(value) } : { SS: [...value] };
};

/** `mark` is put before each name. */
export const toAttributes = (values: Values, mark = ''): Record<string, Attribute> => {
  const attributes: Record<string, Attribute> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) attributes[mark + name] = toAttribute(value);
  }
  return attributes;
};

/** Attributes of types that we never write are left out. */
export const fromAttributes = (
  attributes: Readonly<
    Record<string, { readonly S?: string; readonly N?: string; readonly SS?: readonly string[] | undefined }>
  >,
): Item => {
  const item: Record<string, Value> = {};
  for (const [name, { S, N, SS }] of Object.entries(attributes)) {
    if (S !== undefined) item[name] = S;
    else if (N !== undefined) item[name] = Number(N);
    else if (SS !== undefined) item[name] = new Set(SS);
  }
  return item;
};

/**
 * In expressions, `:name` is the value of that name and `#name` the attribute: the one in `names`, or the one of the
 * same name, even if DynamoDB reserves the word.
 */
interface Expressions {
  readonly condition?: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Values;
}

export type Put = Expressions & { readonly put: Key & Values };
/** Creates a missing item. */
export type Update = Expressions & { readonly update: Key; readonly change: string };
export type Delete = Expressions & { readonly delete: Key };
/** Requires a condition in a transaction. */
export type Check = Expressions & { readonly check: Key; readonly condition: string };

const namesIn = (text: string, names: Readonly<Record<string, string>> = {}) => {
  const marks = text.match(/#\w+/g);
  if (!marks) return {};
  return {
    ExpressionAttributeNames: Object.fromEntries(marks.map((mark) => [mark, names[mark.slice(1)] ?? mark.slice(1)])),
  };
};

const expressions = ({ condition, names, values }: Expressions, change = '') => ({
  ...namesIn(`${change} ${condition ?? ''}`, names),
  ...(values && { ExpressionAttributeValues: toAttributes(values, ':') }),
  ...(condition !== undefined && {
    ConditionExpression: condition,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  }),
});

/** If the condition fails, the error contains the item. */
export const inputOf = (TableName: string, write: Put | Update | Delete) => {
  if ('put' in write) return { Put: { TableName, Item: toAttributes(write.put), ...expressions(write) } };
  if ('delete' in write) return { Delete: { TableName, Key: toAttributes(write.delete), ...expressions(write) } };
  const [Key, UpdateExpression] = [toAttributes(write.update), write.change];
  return { Update: { TableName, Key, UpdateExpression, ...expressions(write, UpdateExpression) } };
};

export const checkInput = (TableName: string, write: Check) => {
  const [Key, ConditionExpression] = [toAttributes(write.check), write.condition];
  return { ConditionCheck: { TableName, Key, ...expressions(write), ConditionExpression } };
};
