import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardServiceRoutes } from './routes.ts';

/** For the API description: a successful request for each route. */
export const dashboardServiceExamples = defineExamples(dashboardServiceRoutes, {
  'get-dashboard-openapi': {},
  'get-dashboard-health': {},
});
