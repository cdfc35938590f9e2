import { inject } from 'vitest';
import { sampleBodies } from '../../samples/route-cases.ts';
import { model, modelKey, routeNamed, secrets, send } from './witness.ts';

/** A webhook with its log, its test and another secret; and a ticket for what changes. */
export const tellOthers = async (parameters: Record<string, string>, token: string, key: string): Promise<void> => {
  const act = (id: string, more: Record<string, string> = {}, body?: object) =>
    send(routeNamed(id), { ...parameters, ...more }, { token, ...(body ? { body } : {}) });
  const body = { url: `${inject('externalS3').endpoint}/hooks`, events: ['user.created'] };
  const made = (await act('create-webhook', {}, body)).body.data as { _id: string; secret: string };
  const webhook = { webhookId: made._id };
  await act('get-webhook', webhook);
  await act('update-webhook', webhook, { events: ['user.created'] });
  await act('test-webhook', webhook);
  await act('list-webhook-deliveries', webhook);
  await act('replay-webhook', webhook, { since: new Date().toISOString() });
  const rotated = (await act('rotate-webhook-secret', webhook)).body.data as { secret: string };
  for (const [value, route] of [
    [made.secret, 'create-webhook'],
    [rotated.secret, 'rotate-webhook-secret'],
  ] as const) {
    secrets.push({ what: 'secret of a webhook', value, shownBy: [route] });
  }
  await act('delete-webhook', webhook);

  await act('create-collection', {}, { name: 'told', schema: null, changes: true });
  const answer = await send(routeNamed('create-ticket'), {}, { key, body: { collections: ['told'] } });
  const { ticket } = answer.body.data as { ticket: string };
  secrets.push({ what: 'ticket of live updates', value: ticket, shownBy: ['create-ticket'] });
};

/** A schema that the language model proposes. */
export const askTheAssistant = async (parameters: Record<string, string>, token: string): Promise<void> => {
  secrets.push({ what: 'key of the language model', value: modelKey });
  model.says(JSON.stringify({ name: 'orders', schema: [{ key: 'number', type: 'Number' }] }));
  await send(routeNamed('propose-schema'), parameters, { token, body: sampleBodies['propose-schema'] });
};
