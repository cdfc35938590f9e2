import {
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { isRefused, throughConflicts } from '../clients/write-conflicts.ts';
import { AppError } from '../errors.ts';
import type { Item } from './upload-items.ts';

/** One write of a transaction; the table is added. */
export type Write = {
  readonly [K in keyof TransactWriteItem]: Omit<NonNullable<TransactWriteItem[K]>, 'TableName'>;
};

/** How a transaction that was refused found each of its items; `item` only where the write asks for `ALL_OLD`. */
export interface Found {
  readonly refused: boolean;
  readonly item: Item | undefined;
}

const withTable = (write: Write, TableName: string): TransactWriteItem =>
  Object.fromEntries(Object.entries(write).map(([kind, input]) => [kind, { ...input, TableName }]));

/**
 * Does all the writes or none. `undefined` where they are done; where a condition decided against them, what each of
 * them found. The table out of reach or too busy → `SERVICE_UNAVAILABLE`.
 */
export const transact = async (writes: readonly Write[]): Promise<readonly Found[] | undefined> => {
  try {
    await onTable((client, table) =>
      throughConflicts(() =>
        client.send(new TransactWriteItemsCommand({ TransactItems: writes.map((write) => withTable(write, table)) })),
      ),
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    if (isRefused(error)) {
      const reasons = error.CancellationReasons ?? [];
      return writes.map((_, index) => ({
        refused: reasons[index]?.Code === 'ConditionalCheckFailed',
        item: reasons[index]?.Item,
      }));
    }
    throw new AppError('SERVICE_UNAVAILABLE', 'The service is busy right now. Please try again.', {
      cause: error,
      retryAfter: 1,
    });
  }
};
