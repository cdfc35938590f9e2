import { dashboardAssistantRoutes } from './dashboard/assistant/routes.ts';
import { dashboardAuditRoutes } from './dashboard/audit/routes.ts';
import { dashboardAuthRoutes } from './dashboard/auth/routes.ts';
import { dashboardCollectionRoutes } from './dashboard/collections/routes.ts';
import { dashboardDatabaseRoutes } from './dashboard/database/routes.ts';
import { dashboardDocumentRoutes } from './dashboard/documents/routes.ts';
import { dashboardAudienceRoutes } from './dashboard/mail/audiences/routes.ts';
import { dashboardBroadcastRoutes } from './dashboard/mail/broadcasts/routes.ts';
import { dashboardMailRoutes } from './dashboard/mail/routes.ts';
import { dashboardMemberRoutes } from './dashboard/members/routes.ts';
import { dashboardProjectRoutes } from './dashboard/projects/routes.ts';
import { dashboardServiceRoutes } from './dashboard/service/routes.ts';
import { dashboardStorageRoutes } from './dashboard/storage/routes.ts';
import { dashboardTokenRoutes } from './dashboard/tokens/routes.ts';
import { dashboardTransferRoutes } from './dashboard/transfers/routes.ts';
import { dashboardTrashRoutes } from './dashboard/trash/routes.ts';
import { dashboardUsageRoutes } from './dashboard/usage/routes.ts';
import { dashboardUserRoutes } from './dashboard/users/routes.ts';
import { dashboardWebhookRoutes } from './dashboard/webhooks/routes.ts';
import { dataRoutes } from './data/routes.ts';
import { audienceRoutes } from './mail/audiences/routes.ts';
import { broadcastRoutes } from './mail/broadcasts/routes.ts';
import { mailRoutes } from './mail/routes.ts';
import { webhookRoutes } from './mail/webhook/routes.ts';
import { realtimeRoutes } from './realtime/routes.ts';
import { serviceRoutes } from './service/routes.ts';
import { storageRoutes } from './storage/routes.ts';
import { userAuthRoutes } from './user-auth/routes.ts';

/** Area → routes. A handler is `functions/<area>/<id>.ts`. */
export const publicRoutes = {
  data: dataRoutes,
  realtime: realtimeRoutes,
  'user-auth': userAuthRoutes,
  storage: storageRoutes,
  mail: mailRoutes,
  'mail/audiences': audienceRoutes,
  'mail/broadcasts': broadcastRoutes,
  'mail/webhook': webhookRoutes,
  service: serviceRoutes,
} as const;

/** Has its own base address. */
export const dashboardRoutes = {
  'dashboard/auth': dashboardAuthRoutes,
  'dashboard/tokens': dashboardTokenRoutes,
  'dashboard/projects': dashboardProjectRoutes,
  'dashboard/members': dashboardMemberRoutes,
  'dashboard/audit': dashboardAuditRoutes,
  'dashboard/collections': dashboardCollectionRoutes,
  'dashboard/database': dashboardDatabaseRoutes,
  'dashboard/documents': dashboardDocumentRoutes,
  'dashboard/trash': dashboardTrashRoutes,
  'dashboard/transfers': dashboardTransferRoutes,
  'dashboard/users': dashboardUserRoutes,
  'dashboard/storage': dashboardStorageRoutes,
  'dashboard/mail': dashboardMailRoutes,
  'dashboard/mail/audiences': dashboardAudienceRoutes,
  'dashboard/mail/broadcasts': dashboardBroadcastRoutes,
  'dashboard/webhooks': dashboardWebhookRoutes,
  'dashboard/assistant': dashboardAssistantRoutes,
  'dashboard/usage': dashboardUsageRoutes,
  'dashboard/service': dashboardServiceRoutes,
} as const;

export const routes = { ...publicRoutes, ...dashboardRoutes } as const;
