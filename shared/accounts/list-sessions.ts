import { type AttributeValue, paginateQuery } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { nowSeconds } from '../core/clock.ts';
import { type SessionScope, userPrefix } from './session-keys.ts';

/** One open session of a user. `_id` is the `sid` of its access tokens. */
export interface Session {
  readonly _id: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly userAgent: string;
  readonly ip: string;
}

const toSession = (item: Record<string, AttributeValue>, prefix: string): Session => ({
  _id: item.sk?.S?.slice(prefix.length) ?? '',
  createdAt: new Date(Number(item.createdAt?.N)),
  lastUsedAt: new Date(Number(item.lastUsedAt?.N)),
  userAgent: item.userAgent?.S ?? '',
  ip: item.ip?.S ?? '',
});

/** The sessions of a user that can still refresh, the one used last first. */
export const listSessions = async (scope: SessionScope, userId: string): Promise<readonly Session[]> => {
  const prefix = userPrefix(userId);
  const items = await onTable(async (client, TableName) => {
    const pages = paginateQuery(
      { client },
      {
        TableName,
        KeyConditionExpression: 'pk = :scope AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':scope': { S: scope }, ':prefix': { S: prefix } },
        ConsistentRead: true,
      },
    );
    const found: Record<string, AttributeValue>[] = [];
    for await (const { Items = [] } of pages) found.push(...Items);
    return found;
  });
  return items
    .filter(({ expiresAt }) => Number(expiresAt?.N) > nowSeconds())
    .map((item) => toSession(item, prefix))
    .sort((a, b) => b.lastUsedAt.getTime() - a.lastUsedAt.getTime());
};
