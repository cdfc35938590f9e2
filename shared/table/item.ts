import { setTimeout as sleep } from 'node:timers/promises';
import type { AttributeValue, WriteRequest } from '@aws-sdk/client-dynamodb';
import { type Dynamo, failedCondition, onTable } from '../clients/dynamo.ts';
import type { Key } from './item-key.ts';
import { fromAttributes, type Item, toAttributes, type Values } from './values.ts';
import { throughConflicts } from './write-conflicts.ts';
import { type Delete, inputOf, type Put, type Update } from './write-input.ts';

// Everything that one item is asked or told goes through here, in plain values. The table out of reach →
// `SERVICE_UNAVAILABLE`.

/** What a write came to: the item that it returns, or, if its condition failed, the item as it was. */
export interface Written<T> {
  readonly done: boolean;
  readonly item: T | undefined;
}

/** An item, strongly consistent: all of it, or the attributes that are named. */
export const get = async <T = Item>(key: Key, names: readonly string[] = []): Promise<T | undefined> => {
  const { Item: found } = await onTable((client, TableName) =>
    client.send('GetItem', {
      TableName,
      Key: toAttributes(key),
      ConsistentRead: true,
      ...(names.length > 0 && {
        ProjectionExpression: names.map((_, at) => `#n${at}`).join(', '),
        ExpressionAttributeNames: Object.fromEntries(names.map((name, at) => [`#n${at}`, name])),
      }),
    }),
  );
  return found && (fromAttributes(found) as T);
};

/** Which attributes come back of a write. */
type Returns = 'NONE' | 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_NEW';

const send = (client: Dynamo, TableName: string, write: Put | Update | Delete, ReturnValues: Returns) => {
  const input = inputOf(TableName, write);
  if (input.Put) return client.send('PutItem', { ...input.Put, ReturnValues });
  if (input.Update) return client.send('UpdateItem', { ...input.Update, ReturnValues });
  return client.send('DeleteItem', { ...input.Delete, ReturnValues });
};

/**
 * Makes one write, of which any number of parallel callers may have the same condition; `returns` says which attributes
 * come back. A client repeats a write whose answer was lost: a condition must accept what the first attempt wrote.
 */
export const write = async <T = Item>(one: Put | Update | Delete, returns: Returns = 'NONE'): Promise<Written<T>> => {
  try {
    const { Attributes } = await onTable((client, TableName) =>
      throughConflicts(() => send(client, TableName, one, returns)),
    );
    return { done: true, item: Attributes && (fromAttributes(Attributes) as T) };
  } catch (error) {
    const failed = failedCondition(error);
    if (!failed) throw error;
    return { done: false, item: failed.Item && (fromAttributes(failed.Item) as T) };
  }
};

/** Items of one partition, in the order of their sort keys. */
interface Range {
  readonly partition: string;
  /** What the sort keys begin with, or what they sort before, which is ASCII, and not before `from`. */
  readonly only?: { readonly prefix: string } | { readonly before: string; readonly from?: string };
  /** The most that are returned; all of them without it. */
  readonly most?: number;
  readonly newestFirst?: boolean;
  /** True: may be a second behind, at half the cost. */
  readonly stale?: boolean;
  readonly keysOnly?: boolean;
}

/** What sorts before a text and after every other ASCII text that does: `BETWEEN` takes both its ends. */
const justBefore = (text: string): string =>
  `${text.slice(0, -1)}${String.fromCharCode(text.charCodeAt(text.length - 1) - 1)}\u007f`;

/** The condition on the sort key, and its values. */
const rangeOf = ({ only }: Range): readonly [test: string, values: Values] => {
  if (!only) return ['', {}];
  if ('prefix' in only) return [' AND begins_with(sk, :sk)', { sk: only.prefix }];
  if (only.from === undefined) return [' AND sk < :sk', { sk: only.before }];
  return [' AND sk BETWEEN :from AND :sk', { from: only.from, sk: justBefore(only.before) }];
};

const conditionOf = (range: Range) => {
  const [test, values] = rangeOf(range);
  return {
    KeyConditionExpression: `pk = :pk${test}`,
    ExpressionAttributeValues: toAttributes({ ...values, pk: range.partition }, ':'),
  };
};

export const list = async <T = Item>(range: Range): Promise<T[]> => {
  const { most, newestFirst = false, stale = false, keysOnly = false } = range;
  const found: T[] = [];
  let start: Record<string, AttributeValue> | undefined;
  do {
    const input = {
      ...conditionOf(range),
      ConsistentRead: !stale,
      ScanIndexForward: !newestFirst,
      ...(keysOnly && { ProjectionExpression: 'pk, sk' }),
      ...(most !== undefined && { Limit: most - found.length }),
      ...(start && { ExclusiveStartKey: start }),
    };
    const { Items = [], LastEvaluatedKey } = await onTable((client, TableName) =>
      client.send('Query', { TableName, ...input }),
    );
    found.push(...Items.map((item) => fromAttributes(item) as T));
    start = LastEvaluatedKey;
  } while (start && found.length !== most);
  return found;
};

/** The most that `deleteAll` takes. */
export const maxDeleted = 25;

/** Deletes up to 25 items, again what the table was too busy for. False if some are left after six tries. */
export const deleteAll = async (keys: readonly Key[]): Promise<boolean> => {
  let left: WriteRequest[] = keys.map(({ pk, sk }) => ({ DeleteRequest: { Key: toAttributes({ pk, sk }) } }));
  for (let attempt = 0; left.length > 0 && attempt < 6; attempt++) {
    if (attempt > 0) await sleep(50 * 2 ** attempt);
    const batch = left;
    left = await onTable(async (client, table) => {
      const { UnprocessedItems } = await client.send('BatchWriteItem', { RequestItems: { [table]: batch } });
      return UnprocessedItems?.[table] ?? [];
    });
  }
  return left.length === 0;
};
