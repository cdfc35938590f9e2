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
import { number, text } from './upload-items.ts';

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
const doneUntil = async (queue: DueQueue, now: number): Promise<number> => {
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
const setDoneUntil = async (queue: DueQueue, time: number, now: number): Promise<void> => {
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

/** What is due by `now` in one partition, the longest overdue first. */
const nextIn = async (partition: string, now: number): Promise<readonly DueEntry[]> => {
  const { Items = [] } = await onTable((client, TableName) =>
    client.send(
      new QueryCommand({
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :partition AND sk < :next',
        ExpressionAttributeValues: { ':partition': text(partition), ':next': text(dueOrder(now + 1)) },
        Limit: pageSize,
      }),
    ),
  );
  return Items.map(toDueEntry);
};

/**
 * What is due by `now`, day by day, the oldest first: up to 25 entries of each of the day's partitions at a time, and
 * then what is left. Whoever takes them removes or puts off every one; what is done need not be looked at again.
 */
export async function* dueUploads(queue: DueQueue, now: number): AsyncGenerator<(readonly DueEntry[])[], void, void> {
  for (let start = Math.floor((await doneUntil(queue, now)) / day) * day; start <= now; start += day) {
    let partitions = Array.from({ length: shards }, (_, shard) => duePartition(queue, start, shard));
    while (partitions.length > 0) {
      const pages = await Promise.all(partitions.map((partition) => nextIn(partition, now)));
      yield pages.filter(({ length }) => length > 0);
      partitions = partitions.filter((_, index) => pages[index]?.length === pageSize);
    }
    await setDoneUntil(queue, Math.min(start + day, now), now);
  }
}

/** Removes an entry that is done; may be repeated. */
export const removeDueEntry = ({ key }: DueEntry): Promise<unknown> =>
  onTable((client, TableName) => client.send(new DeleteItemCommand({ TableName, Key: { ...key } })));

/** Puts one off, unless another run has done or put off the same. */
export const putOff = async (entry: DueEntry): Promise<void> => {
  await transact(moveDueEntry(entry));
};
