import * as v from 'valibot';
import { webhookEvents } from '../../../shared/webhooks/event-types.ts';
import { newWebhookEntries, webhookChangesEntries } from '../../../shared/webhooks/manage.ts';
import { strictBody, success } from '../../schemas.ts';
import { pageOf } from '../schemas.ts';

export const NewWebhookBody = strictBody(newWebhookEntries);
export const WebhookChangesBody = strictBody(webhookChangesEntries);

/** Exactly one of them. */
export const ReplayBody = strictBody({
  since: v.optional(v.string('must be a String')),
  deliveryId: v.optional(v.string('must be a String')),
});

const webhook = {
  _id: v.string(),
  url: v.string(),
  events: v.array(v.picklist(webhookEvents)),
  collections: v.optional(v.array(v.string())),
  enabled: v.boolean(),
  createdAt: v.date(),
  updatedAt: v.date(),
};

export const WebhookAnswer = success(v.object(webhook));
export const WebhookPage = pageOf(v.object(webhook));
export const WebhookSecretAnswer = success(v.object({ ...webhook, secret: v.string() }));
const Delivery = v.object({
  _id: v.string(),
  webhookId: v.string(),
  type: v.string(),
  collection: v.optional(v.string()),
  eventId: v.nullable(v.string()),
  state: v.picklist(['waiting', 'delivered', 'failed']),
  attempts: v.array(
    v.object({
      at: v.date(),
      status: v.nullable(v.number()),
      ms: v.number(),
      error: v.optional(v.string()),
      eventId: v.string(),
    }),
  ),
  nextAt: v.nullable(v.date()),
  createdAt: v.date(),
});

export const DeliveryAnswer = success(Delivery);
export const DeliveryPage = pageOf(Delivery);
