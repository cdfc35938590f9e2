import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { type Contenders, compareBy, type Outcome, type Plan } from './compare.ts';
import { type LoadRequest, measure } from './load.ts';
import type { Compared } from './operations.ts';

/** Sets the month's count of a project so far below its quota that a benchmark never reaches it, and empties it of held slots. */
export const resetMailQuota = async (table: string, projectId: string): Promise<void> => {
  const dynamo = new DynamoDBClient({});
  const month = new Date().toISOString().slice(0, 7);
  const Item = { pk: { S: `p#${projectId}` }, sk: { S: `quota#mail#${month}` }, used: { N: '-999999999' } };
  await dynamo.send(new PutItemCommand({ TableName: table, Item }));
  dynamo.destroy();
};

export const sampleMail = {
  to: 'reader@example.com',
  subject: 'Your order',
  text: 'It is on its way and will be with you on Friday.',
};

const sending: LoadRequest = { method: 'POST', path: () => '/api/mail/send', body: () => JSON.stringify(sampleMail) };

const operations: readonly Compared[] = [{ name: 'send mail', area: 'mail' }];

/** Compares how mails are accepted; nobody takes them off their queues. */
export const compareMail = (contenders: Contenders, table: string, projectId: string, plan: Plan): Promise<Outcome[]> =>
  compareBy(contenders, operations, plan, async (_operation, name, warm) => {
    await resetMailQuota(table, projectId);
    if (!warm) await measure(contenders[name], sending, 1);
    return measure(contenders[name], sending, plan.seconds);
  });
