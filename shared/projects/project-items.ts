import { setTimeout as sleep } from 'node:timers/promises';
import { BatchWriteItemCommand, QueryCommand, type WriteRequest } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';

/** The most that one BatchWriteItem takes. */
const batchSize = 25;

/** Deletes one batch; what the table was too busy for is sent again, ever later, until nothing is left or tries run out. */
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

const nextKeys = (projectId: string) =>
  onTable(async (dynamo, table) => {
    const { Items = [] } = await dynamo.send(
      new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :project',
        ExpressionAttributeValues: { ':project': { S: `p#${projectId}` } },
        ProjectionExpression: 'pk, sk',
        Limit: batchSize,
      }),
    );
    return Items;
  });

/**
 * Deletes items that a project owns in the table (all have the partition key `p#<projectId>`), at most `batches` times 25.
 * `removed` counts them; `complete` tells whether none are left.
 */
export const removeProjectItems = async (
  projectId: string,
  batches: number,
): Promise<{ readonly removed: number; readonly complete: boolean }> => {
  let removed = 0;
  for (let batch = 0; batch < batches; batch++) {
    const keys = await nextKeys(projectId);
    if (keys.length === 0) return { removed, complete: true };
    if (!(await deleteBatch(keys.map((Key) => ({ DeleteRequest: { Key } }))))) break;
    removed += keys.length;
  }
  return { removed, complete: false };
};
