import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttributeValue, WriteRequest } from '@aws-sdk/client-dynamodb';
import { AppError } from '../core/errors.ts';
import {
  type Check,
  cancellation,
  checkInput,
  type Delete,
  type Dynamo,
  failedCondition,
  fromAttributes,
  type Item,
  inputOf,
  isHeld,
  onTable,
  type Put,
  toAttributes,
  type Update,
  type Values,
} from './dynamo.ts';
import type { Key } from './item-keys.ts';

const tries = 6;

const reasonsOf = (error: unknown): ReadonlySet<string | undefined> =>
  new Set(cancellation(error)?.map(({ Code }) => Code));

/** True if a condition failed, not only another write held an item. */
const isRefused = (error: unknown): boolean => reasonsOf(error).has('ConditionalCheckFailed');

/** Failed conditions are returned unchanged; other cancellations are faults. */
const outcome = (error: unknown): unknown =>
  cancellation(error) && !isRefused(error) ? new Error('The transaction was cancelled', { cause: error }) : error;

/** True if a write failed only because another one held its item. */
const isConflict = (error: unknown): boolean => {
  const reasons = reasonsOf(error);
  return isHeld(error) || (reasons.has('TransactionConflict') && !reasons.has('ConditionalCheckFailed'));
};

/**
 * Retries a write while other writes hold its items, up to six times within about a second. DynamoDB may reject both of
 * two conflicting writes. Use it inside `onTable`.
 */
export const throughConflicts = async <T>(write: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error)) throw outcome(error);
      if (attempt === tries) throw error;
      await sleep(Math.random() * 20 * 2 ** attempt);
    }
  }
};

// All reads and writes of items, in plain values. Without a response → `SERVICE_UNAVAILABLE`.

/** The returned item, or the existing item if the condition failed. */
export interface Written<T> {
  readonly done: boolean;
  readonly item: T | undefined;
}

/** A strongly consistent read of an item, or of the named attributes. */
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

type Returns = 'NONE' | 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_NEW';

const send = (client: Dynamo, TableName: string, write: Put | Update | Delete, ReturnValues: Returns) => {
  const input = inputOf(TableName, write);
  if (input.Put) return client.send('PutItem', { ...input.Put, ReturnValues });
  if (input.Update) return client.send('UpdateItem', { ...input.Update, ReturnValues });
  return client.send('DeleteItem', { ...input.Delete, ReturnValues });
};

/**
 * `returns` selects the returned attributes. The client retries a write whose response was lost, so a condition must
 * accept what the first attempt wrote.
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

/** Items of a partition, ordered by their sort keys. */
interface Range {
  readonly partition: string;
  /** A prefix, or an ASCII upper bound, exclusive, with an optional lower bound. */
  readonly only?: { readonly prefix: string } | { readonly before: string; readonly from?: string };
  /** Maximum number of items; all by default. */
  readonly most?: number;
  readonly newestFirst?: boolean;
  /** Up to a second stale, at half the cost. */
  readonly stale?: boolean;
  readonly keysOnly?: boolean;
}

/** The greatest ASCII text below `text`, because `BETWEEN` includes both ends. */
const justBefore = (text: string): string =>
  `${text.slice(0, -1)}${String.fromCharCode(text.charCodeAt(text.length - 1) - 1)}\u007f`;

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

/** Maximum number of keys in one `deleteAll`. */
export const maxDeleted = 25;

/** Deletes up to 25 items, with retries if the table is busy. False if some remain after six attempts. */
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

export type Write = Put | Update | Delete | Check;

/** An item of a failed transaction; `item` only if the condition of its write failed. */
export interface Found<T = Item> {
  readonly refused: boolean;
  readonly item: T | undefined;
}

const tooManyWriters = (cause: unknown, message = 'The service is busy right now. Retry.'): AppError =>
  new AppError('TOO_MANY_WRITERS', message, { cause, retryAfter: 1 });

/**
 * Makes all writes or none. Returns `undefined` after success, or the items if a condition failed. The client's own
 * retry counts as the first attempt. Items that other writers held → 503 `TOO_MANY_WRITERS` with the message `busy`.
 */
export const transact = async <T = Item>(
  writes: readonly Write[],
  busy?: string,
): Promise<readonly Found<T>[] | undefined> => {
  try {
    await onTable((client, table) =>
      throughConflicts(() =>
        client.send('TransactWriteItems', {
          TransactItems: writes.map((write) => ('check' in write ? checkInput(table, write) : inputOf(table, write))),
          ClientRequestToken: randomUUID(),
        }),
      ),
    );
    return undefined;
  } catch (error) {
    const reasons = cancellation(error);
    if (!reasons) throw error;
    if (!isRefused(error)) throw tooManyWriters(error, busy);
    return writes.map((_, index) => {
      const { Code, Item: found } = reasons[index] ?? {};
      return { refused: Code === 'ConditionalCheckFailed', item: found && (fromAttributes(found) as T) };
    });
  }
};

/** A consistent read of several items. Items that other writers held → 503 `TOO_MANY_WRITERS`. */
export const getTogether = async <T = Item>(keys: readonly Key[]): Promise<readonly (T | undefined)[]> => {
  try {
    const { Responses = [] } = await onTable((client, TableName) =>
      throughConflicts(() =>
        client.send('TransactGetItems', {
          TransactItems: keys.map((key) => ({ Get: { TableName, Key: toAttributes(key) } })),
        }),
      ),
    );
    return keys.map((_, at) => {
      const found = Responses[at]?.Item;
      return found && (fromAttributes(found) as T);
    });
  } catch (error) {
    throw cancellation(error) ? tooManyWriters(error) : error;
  }
};
