import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { IdAnswer } from '../../schemas.ts';
import { PageQuery } from '../schemas.ts';
import {
  DeliveryAnswer,
  DeliveryPage,
  NewWebhookBody,
  ReplayBody,
  WebhookAnswer,
  WebhookChangesBody,
  WebhookPage,
  WebhookSecretAnswer,
} from './schemas.ts';

const errors = ['WEBHOOK_NOT_FOUND'] as const;

export const dashboardWebhookRoutes = defineProjectRoutes('webhooks', {
  'list-webhooks': {
    method: 'GET',
    path: '/api/projects/{projectId}/webhooks',
    summary: 'List webhooks, newest first',
    query: PageQuery,
    response: { status: 200, body: WebhookPage },
  },
  'create-webhook': {
    method: 'POST',
    path: '/api/projects/{projectId}/webhooks',
    summary: 'Create a webhook; only this response contains its secret',
    body: NewWebhookBody,
    response: { status: 201, body: WebhookSecretAnswer },
    example: {
      body: {
        url: 'https://example.com/hooks',
        events: ['document.created', 'document.updated'],
        collections: ['posts'],
        enabled: true,
      },
    },
    errors: ['INVALID_WEBHOOK', 'CHANGES_NOT_ENABLED', 'COLLECTION_NOT_FOUND', 'PLAN_LIMIT'],
  },
  'get-webhook': {
    method: 'GET',
    path: '/api/projects/{projectId}/webhooks/{webhookId}',
    summary: 'Get a webhook',
    response: { status: 200, body: WebhookAnswer },
    errors,
  },
  'update-webhook': {
    method: 'PATCH',
    path: '/api/projects/{projectId}/webhooks/{webhookId}',
    summary: 'Update a webhook; omitted fields stay',
    body: WebhookChangesBody,
    response: { status: 200, body: WebhookAnswer },
    example: { body: { events: ['document.created', 'document.updated', 'document.deleted'] } },
    errors: [...errors, 'INVALID_WEBHOOK', 'CHANGES_NOT_ENABLED', 'COLLECTION_NOT_FOUND', 'NOTHING_TO_UPDATE'],
  },
  'delete-webhook': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/webhooks/{webhookId}',
    summary: 'Delete a webhook with its log',
    response: { status: 200, body: IdAnswer },
    errors,
  },
  'test-webhook': {
    method: 'POST',
    path: '/api/projects/{projectId}/webhooks/{webhookId}/test',
    audit: false,
    summary: 'Send a test event to a webhook, even if it is off',
    response: { status: 202, body: DeliveryAnswer },
    errors,
  },
  'rotate-webhook-secret': {
    method: 'POST',
    path: '/api/projects/{projectId}/webhooks/{webhookId}/rotate-secret',
    summary: 'Rotate the secret of a webhook; the old one also signs for 24 hours',
    response: { status: 201, body: WebhookSecretAnswer },
    errors,
  },
  'list-webhook-deliveries': {
    method: 'GET',
    path: '/api/projects/{projectId}/webhooks/{webhookId}/deliveries',
    summary: 'List the deliveries of a webhook of the last 30 days, newest first',
    query: PageQuery,
    response: { status: 200, body: DeliveryPage },
    errors,
  },
  'replay-webhook': {
    method: 'POST',
    path: '/api/projects/{projectId}/webhooks/{webhookId}/replay',
    summary: 'Replay events to a webhook: since a time, or one delivery',
    body: ReplayBody,
    response: { status: 202, body: IdAnswer },
    example: { body: { since: '2026-11-20T00:00:00.000Z' } },
    errors: [...errors, 'INVALID_WEBHOOK', 'DELIVERY_NOT_FOUND'],
  },
});
