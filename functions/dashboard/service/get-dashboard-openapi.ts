import { dashboardSettings } from '../../../shared/core/config.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocument } from '../../dashboard-api.ts';
import { dashboardServiceRoutes } from './routes.ts';

const route = dashboardServiceRoutes['get-dashboard-openapi'];

export const handler = publicEndpoint(route).handler(async () => {
  const servers = [{ url: dashboardSettings().DASHBOARD_API_URL }];
  return respond(route, { ...dashboardDocument(), servers }, { maxAgeSeconds: 300 });
});
