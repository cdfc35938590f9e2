import { ObjectId } from 'mongodb';
import * as v from 'valibot';
import { sendMessages } from '../clients/sqs.ts';
import { clock } from '../core/clock.ts';
import { webhookQueueSettings } from '../core/config.ts';
import { type WebhookRecord, webhookRecords } from '../events/webhook-record.ts';
import { type Requeued, requeue } from '../work/page-job.ts';
import { lookAgainMs, runWebhook } from './run-webhook.ts';

const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{24}$/));

/** A message of the queue: webhooks of a project, or one, are to be looked at. */
const schema = v.pipe(
  v.string(),
  v.parseJson(),
  v.union([v.strictObject({ projectId: id }), v.strictObject({ webhookId: id })]),
);

const webhooksIn = async (message: v.InferOutput<typeof schema>): Promise<readonly ObjectId[]> => {
  if ('webhookId' in message) return [new ObjectId(message.webhookId)];
  const mine = { projectId: new ObjectId(message.projectId) };
  const found = await webhookRecords.find(mine, { projection: { _id: 1 } });
  return found.map(({ _id }) => _id);
};

/** Does what a message of the queue says, all webhooks of it side by side; what is no message is nothing. */
export const takeWebhookMessage = async (body: string, limitMs?: number): Promise<void> => {
  const { success, output: message } = v.safeParse(schema, body);
  if (!success) return;
  const runs = (await webhooksIn(message)).map((_id) => runWebhook(_id, limitMs));
  for (const outcome of await Promise.allSettled(runs)) if (outcome.status === 'rejected') throw outcome.reason;
};

const now = (): Date => new Date(clock.now());

/** Webhooks that are due: each every few minutes, and what a message was lost of, or a run that died had. */
const dueWebhooks: Requeued<WebhookRecord> = {
  name: 'requeue-webhooks',
  records: webhookRecords,
  dueAt: 'dueAt',
  due: () => ({ dueAt: { $lte: now() } }),
  open: {},
  send: (ids) =>
    sendMessages(
      webhookQueueSettings().WEBHOOK_QUEUE_URL,
      ids.map((webhookId) => JSON.stringify({ webhookId })),
    ),
  lostAt: () => new Date(clock.now() + lookAgainMs / 5),
  limitMs: 40_000,
};

/** Has the webhooks that are due looked at; with `queueIsEmpty` every one. Returns how many. */
export const requeueWebhooks = async ({ queueIsEmpty = false } = {}): Promise<number> => {
  if (queueIsEmpty) await webhookRecords.updateMany({}, { $set: { dueAt: now(), leasedUntil: new Date(0) } });
  return requeue(dueWebhooks);
};
