import { type AttributeValue, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../../clients/dynamo.ts';
import { statsKey } from './stats-items.ts';

/** The counters of one item by their names; none where nothing was counted. */
export const readStats = async (projectId: string, sort: string): Promise<ReadonlyMap<string, number>> => {
  const { Item = {} } = await onTable((dynamo, TableName) =>
    dynamo.send(new GetItemCommand({ TableName, Key: statsKey(projectId, sort), ConsistentRead: true })),
  );
  const counters = Object.entries<AttributeValue>(Item).filter(([name]) => name.includes('|'));
  return new Map(counters.map(([name, { N }]) => [name, Number(N)]));
};
