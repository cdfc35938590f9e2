import { randomBytes } from 'node:crypto';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '../../../infra/local/dynamo.ts';

/**
 * Makes a table for this process alone, for tests whose jobs would find what other tests have in the shared one. Call
 * it before anything reads the settings of the table.
 */
export const useOwnTable = async (): Promise<void> => {
  const TableName = `own-${randomBytes(6).toString('hex')}`;
  const client = new DynamoDBClient({});
  await client.send(new CreateTableCommand({ TableName, ...tableDefinition }));
  client.destroy();
  process.env.TABLE_NAME = TableName;
};
