import type * as sdk from '@aws-sdk/client-dynamodb';
import { tableSettings } from '../core/config.ts';
import { JsonClient, ServiceError } from './aws-client.ts';
import type { Key } from './item-keys.ts';
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
  (): Dynamo => new JsonClient({ service: 'dynamodb', target: 'DynamoDB_20120810', json: '1.0', ...shortTries }),
  shortCallMs,
  // What a condition decided is an answer, and no fault.
  (error) => (failedCondition(error) ?? cancellation(error)) !== undefined,
);

/** Runs one call on the table; a failed condition is thrown as `ServiceError`. */
export const onTable = <T>(call: (client: Dynamo, table: string) => Promise<T>): Promise<T> =>
  dynamo.on((client) => call(client, tableSettings().TABLE_NAME));

export const closeDynamo = dynamo.close;

/** A value that the table keeps: text, a number, or a set of texts, which is never empty. */
type Value = string | number | ReadonlySet<string>;

/** Values by their names; `undefined` is left out of the table. */
export type Values = Readonly<Record<string, Value | undefined>>;

export type Item = Readonly<Record<string, Value>>;

/** A value as DynamoDB takes it. */
type Attribute = { S: string } | { N: string } | { SS: string[] };

const toAttribute = (value: Value): Attribute => {
  if (typeof value === 'string') return { S: value };
  return typeof value === 'number' ? { N: String(value) } : { SS: [...value] };
};

/** Values as DynamoDB takes them; `mark` goes before each name. */
export const toAttributes = (values: Values, mark = ''): Record<string, Attribute> => {
  const attributes: Record<string, Attribute> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) attributes[mark + name] = toAttribute(value);
  }
  return attributes;
};

/** What DynamoDB returned as plain values. An attribute of a type that is written nowhere is left out. */
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
 * What the expressions of a write stand on: `:name` is the value of that name; `#name` is the attribute that `names`
 * gives, or else the one of that name, even if DynamoDB reserves the word.
 */
interface Expressions {
  readonly condition?: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Values;
}

/** Writes a whole item. */
export type Put = Expressions & { readonly put: Key & Values };
/** Changes an item by an update expression; one that is missing is made. */
export type Update = Expressions & { readonly update: Key; readonly change: string };
export type Delete = Expressions & { readonly delete: Key };
/** Writes nothing: for a transaction that needs the condition to hold. */
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

/** A write as DynamoDB takes it, by its kind. If its condition fails, the answer has the item as it was. */
export const inputOf = (TableName: string, write: Put | Update | Delete) => {
  if ('put' in write) return { Put: { TableName, Item: toAttributes(write.put), ...expressions(write) } };
  if ('delete' in write) return { Delete: { TableName, Key: toAttributes(write.delete), ...expressions(write) } };
  const [Key, UpdateExpression] = [toAttributes(write.update), write.change];
  return { Update: { TableName, Key, UpdateExpression, ...expressions(write, UpdateExpression) } };
};

/** As `inputOf`. */
export const checkInput = (TableName: string, write: Check) => {
  const [Key, ConditionExpression] = [toAttributes(write.check), write.condition];
  return { ConditionCheck: { TableName, Key, ...expressions(write), ConditionExpression } };
};
