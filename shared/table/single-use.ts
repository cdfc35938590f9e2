import { randomUUID } from 'node:crypto';
import { type AttributeValue, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { conditionalWrite } from './conditional-write.ts';

type Values = Record<string, AttributeValue>;

/** An item of the table that can be consumed once, and the condition under which it can. */
export interface SingleUse {
  readonly key: Values;
  readonly condition: string;
  readonly values: Values;
}

/** A successful consumption: the item, and the `id` by which it can be undone. */
export interface Consumption {
  readonly key: Values;
  readonly item: Values;
  readonly id: string;
}

/**
 * Consumes an item by one conditional write: exactly one of any number of parallel callers succeeds; the others, and
 * all callers if the condition fails, get `undefined`. The item is kept until it expires, because the SDK repeats a
 * write whose response was lost and must then find its own consumption.
 */
export const consumeItem = async ({ key, condition, values }: SingleUse): Promise<Consumption | undefined> => {
  const id = randomUUID();
  const item = await conditionalWrite(
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

/**
 * Undoes a consumption that had no effect, so that the item can be used again; another caller's consumption is left
 * alone.
 */
export const restoreItem = async ({ key, id }: Consumption): Promise<void> => {
  await conditionalWrite(
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
