import { randomUUID } from 'node:crypto';
import { cancellation, onTable } from '../clients/dynamo.ts';
import { AppError } from '../core/errors.ts';
import type { Key } from './item-key.ts';
import { fromAttributes, type Item, toAttributes } from './values.ts';
import { isRefused, throughConflicts } from './write-conflicts.ts';
import { type Check, checkInput, type Delete, inputOf, type Put, type Update } from './write-input.ts';

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
