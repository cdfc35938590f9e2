import type { WalkContext } from './context.ts';

/** Webhooks, their log, a test and a replay; the receiver is a storage, which takes none of it. */
export const walkWebhooks = async ({ dashboard, externalS3 }: WalkContext): Promise<void> => {
  const body = { url: `${externalS3.endpoint}/hooks`, events: ['user.created'] };
  const made = await dashboard.run('create-webhook', { body });
  const webhook = { params: { webhookId: made.body.data._id ?? '' } };
  await dashboard.run('list-webhooks');
  await dashboard.run('get-webhook', webhook);
  await dashboard.run('update-webhook', { ...webhook, body: { events: ['user.created'] } });
  await dashboard.run('test-webhook', webhook);
  await dashboard.run('list-webhook-deliveries', webhook);
  await dashboard.run('replay-webhook', { ...webhook, body: { since: new Date().toISOString() } });
  await dashboard.run('rotate-webhook-secret', webhook);
  await dashboard.run('delete-webhook', webhook);
};
