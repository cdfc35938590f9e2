import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { monthKey, ownerMonthKey } from '../shared/mail/limits.ts';
import { requireProject } from '../shared/projects/find-project.ts';
import type { LoadRequest } from './load.ts';
import type { Operation } from './operation.ts';

const itemKey = ({ pk, sk }: { readonly pk: string; readonly sk: string }) => ({ pk: { S: pk }, sk: { S: sk } });

const farBelow = { N: '-999999999' };

/** Limits per day are counted from the log. */
const rows = Object.fromEntries(Array.from({ length: 31 }, (_, day) => [`rows${day + 1}`, farBelow]));

/**
 * Sets the monthly counters of a project and its owner so low that a benchmark never reaches their quotas, without
 * reserved slots.
 */
export const resetMailQuota = async (table: string, projectId: string): Promise<void> => {
  const dynamo = new DynamoDBClient({});
  const month = new Date().toISOString().slice(0, 7);
  const { ownerKey } = await requireProject(projectId);
  const items = [
    { ...itemKey(monthKey(projectId, month)), used: farBelow, ...rows },
    { ...itemKey(ownerMonthKey(ownerKey, month)), mails: farBelow, recipients: farBelow },
  ];
  for (const Item of items) await dynamo.send(new PutItemCommand({ TableName: table, Item }));
  dynamo.destroy();
};

export const sampleMail = {
  to: 'reader@example.com',
  subject: 'Your order',
  text: 'It is on its way and will be with you on Friday.',
};

const area = 'mail';
const batchSize = 100;
/** More would only wait, because each request is as much work as a hundred. */
const batchConnections = 4;

const sending: LoadRequest = { method: 'POST', path: () => '/api/mail/send', body: () => JSON.stringify(sampleMail) };

/** The body of a batch of this many emails. */
export const batchOf = (mails: number): string =>
  JSON.stringify(Array.from({ length: mails }, (_, index) => ({ ...sampleMail, to: `reader-${index}@example.com` })));

const batch = batchOf(batchSize);
const sendingBatch: LoadRequest = {
  method: 'POST',
  path: () => '/api/mail/send-batch',
  body: () => batch,
  connections: batchConnections,
};

/** Accepting emails without delivering them, and sending batches to a provider that responds immediately. */
export const mailOperations = (table: string, projectId: string): Operation[] => [
  {
    name: 'send mail',
    area,
    aim: { speed: 0.5, counted: 0.4 },
    prepare: async () => {
      await resetMailQuota(table, projectId);
      return sending;
    },
  },
  {
    name: `send a batch of ${batchSize} mails`,
    area,
    aim: { speed: 0.6, counted: 0.35 },
    prepare: async () => {
      await resetMailQuota(table, projectId);
      return sendingBatch;
    },
    gist: (body, name) => (name === 'bare' ? body : body.data).length,
  },
];
