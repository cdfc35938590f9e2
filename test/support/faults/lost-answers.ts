import { type DynamoDBClient, DynamoDBClient as Table } from '@aws-sdk/client-dynamodb';
import { vi } from 'vitest';

/**
 * From now on, until mocks are restored, each write of this process to the table is done twice: what the client does by
 * itself where the first answer got lost. The caller sees the second answer.
 */
export const loseFirstAnswers = (): void => {
  const send = Table.prototype.send as (this: DynamoDBClient, command: unknown) => Promise<unknown>;
  const twice = async function (this: DynamoDBClient, command: unknown): Promise<unknown> {
    await send.call(this, command);
    return send.call(this, command);
  };
  vi.spyOn(Table.prototype, 'send').mockImplementation(twice as never);
};
