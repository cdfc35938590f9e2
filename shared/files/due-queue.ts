import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { transact } from '../table/transact.ts';
import {
  type DueEntry,
  type DueQueue,
  dueOrder,
  duePartition,
  moveDueEntry,
  shards,
  toDueEntry,
} from './due-entries.ts';
import { type Item, number, text } from './upload-items.ts';

const day = 24 * 60 * 60 * 1000;
const pageSize = 25;

/** Time up to which everything due has been done, so that a run need not look at every past day. */
const doneKey = (queue: DueQueue) => ({
  pk: text('due#uploads#done'),
  sk: text(queue === 'managed' ? 'until' : `until#${queue}`),
});

/** How far back a run looks if that time is unknown or lies in the future, as after a wrong clock. */
const farBackMs = 100 * day;

/** Milliseconds since 1970 before which nothing due is left. */
export const doneUntil = async (queue: DueQueue, now: number): Promise<number> => {
  const { Item } = await onTable((client, TableName) =>
    client.send(new GetItemCommand({ TableName, Key: doneKey(queue), ConsistentRead: true })),
  );
  const until = Number(Item?.until?.N ?? Number.NaN);
  return until <= now ? until : now - farBackMs;
};

/**
 * Moves that time on to `time`, never back, but from one that has yet to come by the clock of the run that began at
 * `now`.
 */
export const setDoneUntil = async (queue: DueQueue, time: number, now: number): Promise<void> => {
  try {
    await onTable((client, TableName) =>
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: doneKey(queue),
          UpdateExpression: 'SET #until = :time',
          ConditionExpression: 'attribute_not_exists(#until) OR #until < :time OR #until > :now',
          ExpressionAttributeNames: { '#until': 'until' },
          ExpressionAttributeValues: { ':time': number(time), ':now': number(now) },
        }),
      ),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};

/** What is due on one day: its partitions, and up to when all is done once they are. */
export interface DueDay {
  readonly partitions: readonly string[];
  readonly end: number;
}

/** The days that hold what is due from `since` to `now`, the oldest first. */
export function* daysBetween(queue: DueQueue, since: number, now: number): Generator<DueDay> {
  for (let start = Math.floor(since / day) * day; start <= now; start += day) {
    const partitions = Array.from({ length: shards }, (_, shard) => duePartition(queue, start, shard));
    yield { partitions, end: Math.min(start + day, now) };
  }
}

/** What is due by `now` in one partition, the longest overdue first, up to 25 at a time. */
export async function* dueIn(partition: string, now: number): AsyncGenerator<DueEntry[]> {
  let after: Item | undefined;
  do {
    const start = after;
    const { Items = [], LastEvaluatedKey } = await onTable((client, TableName) =>
      client.send(
        new QueryCommand({
          TableName,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :partition AND sk < :next',
          ExpressionAttributeValues: { ':partition': text(partition), ':next': text(dueOrder(now + 1)) },
          Limit: pageSize,
          ...(start ? { ExclusiveStartKey: start } : {}),
        }),
      ),
    );
    if (Items.length > 0) yield Items.map(toDueEntry);
    after = LastEvaluatedKey;
  } while (after);
}

/** Removes an entry that is done; may be repeated. */
export const removeDueEntry = ({ key }: DueEntry): Promise<unknown> =>
  onTable((client, TableName) => client.send(new DeleteItemCommand({ TableName, Key: { ...key } })));

/** Puts one off, unless another run has done or put off the same. */
export const postpone = async (entry: DueEntry): Promise<void> => {
  await transact(moveDueEntry(entry));
};
