import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { clock } from '../../shared/clock.ts';
import { tableSettings } from '../../shared/config.ts';

/** Has a project have sent so many mails of user accounts today (UTC) with the key that all share. */
export const setAccountMails = async (projectId: string, sent: number): Promise<void> => {
  const client = new DynamoDBClient({});
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  const item = {
    pk: { S: `p#${projectId}` },
    sk: { S: `quota#account-mail#${day}` },
    sent: { N: String(sent) },
    expiresAt: { N: String(Math.floor(clock.now() / 1000) + 2 * 24 * 3600) },
  };
  await client.send(new PutItemCommand({ TableName: tableSettings().TABLE_NAME, Item: item }));
  client.destroy();
};
