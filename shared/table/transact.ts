import {
  type AttributeValue,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { AppError } from '../core/errors.ts';
import { isRefused, throughConflicts } from './write-conflicts.ts';

/** One write of a transaction; the table is added. */
export type Write = {
  readonly [K in keyof TransactWriteItem]: Omit<NonNullable<TransactWriteItem[K]>, 'TableName'>;
};

/** How a transaction that was refused found each of its items; `item` only where the write asks for `ALL_OLD`. */
export interface Found {
  readonly refused: boolean;
  readonly item: Readonly<Record<string, AttributeValue>> | undefined;
}

const withTable = (write: Write, TableName: string): TransactWriteItem =>
  Object.fromEntries(Object.entries(write).map(([kind, input]) => [kind, { ...input, TableName }]));

/**
 * Does all the writes or none; a repeat of the SDK's own counts as the first attempt. `undefined` where they are done;
 * where a condition decided against them, what each of them found. Items that other writers held all the time → 503
 * `TOO_MANY_WRITERS` with the message `busy`; a table out of reach → 503 too: nothing was decided, nothing written.
 */
export const transact = async (
  writes: readonly Write[],
  busy = 'The service is busy right now. Please try again.',
): Promise<readonly Found[] | undefined> => {
  try {
    await onTable((client, table) =>
      throughConflicts(() =>
        client.send(new TransactWriteItemsCommand({ TransactItems: writes.map((write) => withTable(write, table)) })),
      ),
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw error;
    if (!isRefused(error)) throw new AppError('TOO_MANY_WRITERS', busy, { cause: error, retryAfter: 1 });
    const reasons = error.CancellationReasons ?? [];
    return writes.map((_, index) => ({
      refused: reasons[index]?.Code === 'ConditionalCheckFailed',
      item: reasons[index]?.Item,
    }));
  }
};
