import { randomUUID } from 'node:crypto';
import { type AttributeValue, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { decided } from './decided.ts';

type Values = Record<string, AttributeValue>;

/** An item of the table that can be used once, and what must hold of it for that. */
export interface SingleUse {
  readonly key: Values;
  readonly condition: string;
  readonly values: Values;
}

/** A use that its caller alone has had: the item, and `id`, by which the use can be given back. */
export interface Used {
  readonly key: Values;
  readonly item: Values;
  readonly id: string;
}

/**
 * Uses an item up by one conditional write: of any number of parallel callers one does; `undefined` for all others, and
 * where the condition does not hold. The item stays until it expires, because the client asks a second time where the
 * first answer got lost, and must then find its own use and not nothing.
 */
export const useUp = async ({ key, condition, values }: SingleUse): Promise<Used | undefined> => {
  const id = randomUUID();
  const item = await decided(
    onTable((client, TableName) =>
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: key,
          UpdateExpression: 'SET usedBy = :use',
          ConditionExpression: `${condition} AND (attribute_not_exists(usedBy) OR usedBy = :use)`,
          ExpressionAttributeValues: { ...values, ':use': { S: id } },
          ReturnValues: 'ALL_NEW',
        }),
      ),
    ),
  );
  return item && { key, item, id };
};

/** Makes an item good again whose use came to nothing; nobody else's use is touched. */
export const giveUseBack = async ({ key, id }: Used): Promise<void> => {
  await decided(
    onTable((client, TableName) =>
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: key,
          UpdateExpression: 'REMOVE usedBy',
          ConditionExpression: 'usedBy = :use',
          ExpressionAttributeValues: { ':use': { S: id } },
        }),
      ),
    ),
  );
};
