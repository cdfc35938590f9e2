import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { type DueEntry, dueOrder, duePartition, shards, toDueEntry } from './due-entries.ts';
import { type Item, number, text } from './upload-items.ts';

const day = 24 * 60 * 60 * 1000;
const pageSize = 100;

/** Remembers up to when everything due has been done, so that a run need not look at all days there ever were. */
const doneKey = { pk: text('due#uploads#done'), sk: text('until') };

/** How far back a run looks that does not know, or that is told of a time yet to come, as a clock that went wrong leaves it. */
const farBackMs = 8 * day;

/** Milliseconds since 1970 before which nothing due is left. */
export const doneUntil = async (now: number): Promise<number> => {
  const { Item } = await onTable((client, TableName) =>
    client.send(new GetItemCommand({ TableName, Key: doneKey, ConsistentRead: true })),
  );
  const until = Number(Item?.until?.N ?? Number.NaN);
  return until <= now ? until : now - farBackMs;
};

/** Moves that time on, never back. */
export const setDoneUntil = async (time: number): Promise<void> => {
  try {
    await onTable((client, TableName) =>
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: doneKey,
          UpdateExpression: 'SET #until = :time',
          ConditionExpression: 'attribute_not_exists(#until) OR #until < :time',
          ExpressionAttributeNames: { '#until': 'until' },
          ExpressionAttributeValues: { ':time': number(time) },
        }),
      ),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};

/** The partitions that hold what is due from `since` to `now`, the oldest first. */
export const partitionsBetween = (since: number, now: number): string[] => {
  const partitions: string[] = [];
  const today = Math.floor(now / day);
  for (let number = Math.floor(since / day); number <= today; number++) {
    for (let shard = 0; shard < shards; shard++) partitions.push(duePartition(number * day, shard));
  }
  return partitions;
};

/** What is due by `now` in one partition, the longest overdue first, up to 100 at a time. */
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

export const removeDueEntry = ({ key }: DueEntry): Promise<unknown> =>
  onTable((client, TableName) => client.send(new DeleteItemCommand({ TableName, Key: { ...key } })));
