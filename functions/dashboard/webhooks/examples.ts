import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardWebhookRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';
const webhookId = '6743f0c2a91b5d0012ab34d1';
const page = { page: '1', limit: '20' };
const failures = ['WEBHOOK_NOT_FOUND'] as const;

/** For the API description: a successful request for each route. */
export const dashboardWebhookExamples = defineExamples(dashboardWebhookRoutes, {
  'list-webhooks': { params: { projectId }, query: page },
  'create-webhook': {
    params: { projectId },
    body: {
      url: 'https://example.com/hooks',
      events: ['document.created', 'document.updated'],
      collections: ['posts'],
      enabled: true,
    },
    failures: ['INVALID_WEBHOOK', 'CHANGES_NOT_ENABLED', 'COLLECTION_NOT_FOUND', 'PLAN_LIMIT'],
  },
  'get-webhook': { params: { projectId, webhookId }, failures },
  'update-webhook': {
    params: { projectId, webhookId },
    body: { events: ['document.created', 'document.updated', 'document.deleted'] },
    failures: [...failures, 'INVALID_WEBHOOK', 'CHANGES_NOT_ENABLED', 'COLLECTION_NOT_FOUND', 'NOTHING_TO_UPDATE'],
  },
  'delete-webhook': { params: { projectId, webhookId }, failures },
  'test-webhook': { params: { projectId, webhookId }, failures },
  'rotate-webhook-secret': { params: { projectId, webhookId }, failures },
  'list-webhook-deliveries': { params: { projectId, webhookId }, query: page, failures },
  'replay-webhook': {
    params: { projectId, webhookId },
    body: { since: '2026-11-20T00:00:00.000Z' },
    failures: [...failures, 'INVALID_WEBHOOK', 'DELIVERY_NOT_FOUND'],
  },
});
