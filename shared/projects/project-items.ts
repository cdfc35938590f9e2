import { setTimeout as sleep } from 'node:timers/promises';
import { BatchWriteItemCommand, QueryCommand, type WriteRequest } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';

/** The most that one BatchWriteItem takes. */
const batchSize = 25;

/**
 * What users have in the table: sessions, which let nothing be refreshed once they are gone, before what hangs on them.
 */
const userPrefixes = ['session#', 'rtcode#', 'email#', 'refresh#'] as const;

/** Items of one partition; those whose sort key begins with `prefix`, where it is given. */
interface Range {
  readonly partition: string;
  readonly prefix?: string;
}

/** What a removal that had to end in time came to; `complete`: nothing is left. */
export interface RemovedItems {
  readonly removed: number;
  readonly complete: boolean;
}

/**
 * Deletes one batch; what the table was too busy for is sent again, ever later, until nothing is left or tries run out.
 */
const deleteBatch = async (requests: WriteRequest[]): Promise<boolean> => {
  let left = requests;
  for (let attempt = 0; left.length > 0 && attempt < 6; attempt++) {
    if (attempt > 0) await sleep(50 * 2 ** attempt);
    const batch = left;
    left = await onTable(async (dynamo, table) => {
      const { UnprocessedItems } = await dynamo.send(new BatchWriteItemCommand({ RequestItems: { [table]: batch } }));
      return UnprocessedItems?.[table] ?? [];
    });
  }
  return left.length === 0;
};

const nextKeys = ({ partition, prefix }: Range) =>
  onTable(async (dynamo, table) => {
    const { Items = [] } = await dynamo.send(
      new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: prefix === undefined ? 'pk = :scope' : 'pk = :scope AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: {
          ':scope': { S: partition },
          ...(prefix === undefined ? {} : { ':prefix': { S: prefix } }),
        },
        ProjectionExpression: 'pk, sk',
        Limit: batchSize,
      }),
    );
    return Items;
  });

const removeRanges = async (ranges: readonly Range[], withinMs: number): Promise<RemovedItems> => {
  const end = performance.now() + withinMs;
  let removed = 0;
  for (const range of ranges) {
    for (;;) {
      const keys = await nextKeys(range);
      if (keys.length === 0) break;
      if (performance.now() >= end) return { removed, complete: false };
      if (!(await deleteBatch(keys.map((Key) => ({ DeleteRequest: { Key } }))))) return { removed, complete: false };
      removed += keys.length;
    }
  }
  return { removed, complete: true };
};

/** Deletes what a project has in the table, its statistics too; stops after `withinMs`, and may be repeated. */
export const removeProjectItems = (projectId: string, withinMs: number): Promise<RemovedItems> =>
  removeRanges([{ partition: `p#${projectId}` }, { partition: `stats#${projectId}` }], withinMs);

/**
 * Ends every session of a project's users, with their refresh tokens, exchange codes and tokens of mails; stops after
 * `withinMs`, and may be repeated. Access tokens that are out live on for at most 15 minutes.
 */
export const removeUserItems = (projectId: string, withinMs: number): Promise<RemovedItems> =>
  removeRanges(
    userPrefixes.map((prefix) => ({ partition: `p#${projectId}`, prefix })),
    withinMs,
  );
