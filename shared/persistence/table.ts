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

/** True where a condition decided against a transaction, and not merely another write that held one of its items. */
const isRefused = (error: unknown): boolean => reasonsOf(error).has('ConditionalCheckFailed');

/** A write that did not happen: a decision of its conditions as it came, anything else a fault. */
const outcome = (error: unknown): unknown =>
  cancellation(error) && !isRefused(error) ? new Error('The transaction was cancelled', { cause: error }) : error;

/** True where a write was refused only because another one held one of its items. */
const isConflict = (error: unknown): boolean => {
  const reasons = reasonsOf(error);
  return isHeld(error) || (reasons.has('TransactionConflict') && !reasons.has('ConditionalCheckFailed'));
};

/**
 * Sends a write to items that transactions write too; for use inside `onTable`. DynamoDB refuses it while another write
 * holds an item, and may refuse both of two, so it is sent again, up to six times within about a second; then the
 * refusal is thrown. A transaction cancelled for load is an `Error`, which `onTable` makes `SERVICE_UNAVAILABLE`.
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

export type Write = Put | Update | Delete | Check;

/** How a transaction that was refused found one of its items; `item` only where the condition of its write failed. */
export interface Found<T = Item> {
  readonly refused: boolean;
  readonly item: T | undefined;
}

const tooManyWriters = (cause: unknown, message = 'The service is busy right now. Please try again.'): AppError =>
  new AppError('TOO_MANY_WRITERS', message, { cause, retryAfter: 1 });

/**
 * Does all the writes or none; a repeat of the client's own counts as the first attempt. `undefined` where they are
 * done; where a condition decided against them, what each of them found. Items that other writers held all the time →
 * 503 `TOO_MANY_WRITERS` with the message `busy`; a table out of reach → 503 too: nothing was decided, nothing written.
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

/** Items as they are at one moment; those that other writers held all the time → 503 `TOO_MANY_WRITERS`. */
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
