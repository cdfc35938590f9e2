import type { Examples } from '../shared/http/openapi/example.ts';
import { dashboardAssistantExamples } from './dashboard/assistant/examples.ts';
import { dashboardAuditExamples } from './dashboard/audit/examples.ts';
import { dashboardAuthExamples } from './dashboard/auth/examples.ts';
import { dashboardCollectionExamples } from './dashboard/collections/examples.ts';
import { dashboardDatabaseExamples } from './dashboard/database/examples.ts';
import { dashboardDocumentExamples } from './dashboard/documents/examples.ts';
import { dashboardAudienceExamples } from './dashboard/mail/audiences/examples.ts';
import { dashboardBroadcastExamples } from './dashboard/mail/broadcasts/examples.ts';
import { dashboardMailExamples } from './dashboard/mail/examples.ts';
import { dashboardMemberExamples } from './dashboard/members/examples.ts';
import { dashboardProjectExamples } from './dashboard/projects/examples.ts';
import { dashboardServiceExamples } from './dashboard/service/examples.ts';
import { dashboardStorageExamples } from './dashboard/storage/examples.ts';
import { dashboardTokenExamples } from './dashboard/tokens/examples.ts';
import { dashboardTransferExamples } from './dashboard/transfers/examples.ts';
import { dashboardTrashExamples } from './dashboard/trash/examples.ts';
import { dashboardUsageExamples } from './dashboard/usage/examples.ts';
import { dashboardUserExamples } from './dashboard/users/examples.ts';
import { dashboardWebhookExamples } from './dashboard/webhooks/examples.ts';
import { dataExamples } from './data/examples.ts';
import { audienceExamples } from './mail/audiences/examples.ts';
import { broadcastExamples } from './mail/broadcasts/examples.ts';
import { mailExamples } from './mail/examples.ts';
import { webhookExamples } from './mail/webhook/examples.ts';
import { realtimeExamples } from './realtime/examples.ts';
import type { dashboardRoutes, publicRoutes } from './routes.ts';
import { serviceExamples } from './service/examples.ts';
import { storageExamples } from './storage/examples.ts';
import { userAuthExamples } from './user-auth/examples.ts';

/** Area → an example for each row, for the API descriptions. Functions do not carry them. */
export const publicExamples = {
  data: dataExamples,
  realtime: realtimeExamples,
  'user-auth': userAuthExamples,
  storage: storageExamples,
  mail: mailExamples,
  'mail/audiences': audienceExamples,
  'mail/broadcasts': broadcastExamples,
  'mail/webhook': webhookExamples,
  service: serviceExamples,
} satisfies Record<keyof typeof publicRoutes, Examples>;

export const dashboardExamples = {
  'dashboard/auth': dashboardAuthExamples,
  'dashboard/tokens': dashboardTokenExamples,
  'dashboard/projects': dashboardProjectExamples,
  'dashboard/members': dashboardMemberExamples,
  'dashboard/audit': dashboardAuditExamples,
  'dashboard/collections': dashboardCollectionExamples,
  'dashboard/database': dashboardDatabaseExamples,
  'dashboard/documents': dashboardDocumentExamples,
  'dashboard/trash': dashboardTrashExamples,
  'dashboard/transfers': dashboardTransferExamples,
  'dashboard/users': dashboardUserExamples,
  'dashboard/storage': dashboardStorageExamples,
  'dashboard/mail': dashboardMailExamples,
  'dashboard/mail/audiences': dashboardAudienceExamples,
  'dashboard/mail/broadcasts': dashboardBroadcastExamples,
  'dashboard/webhooks': dashboardWebhookExamples,
  'dashboard/assistant': dashboardAssistantExamples,
  'dashboard/usage': dashboardUsageExamples,
  'dashboard/service': dashboardServiceExamples,
} satisfies Record<keyof typeof dashboardRoutes, Examples>;
