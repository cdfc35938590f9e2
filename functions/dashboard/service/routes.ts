import { defineRoutes } from '../../../shared/http/route.ts';
import { HealthAnswer, OpenApiAnswer } from '../../service/schemas.ts';

export const dashboardServiceRoutes = defineRoutes({
  'get-dashboard-openapi': {
    method: 'GET',
    path: '/api/openapi.json',
    access: 'public',
    database: false,
    summary: 'Get the OpenAPI description of the dashboard API',
    response: { status: 200, body: OpenApiAnswer },
  },
  'get-dashboard-health': {
    method: 'GET',
    head: true,
    path: '/api/health',
    access: 'public',
    summary: 'Check whether every part of the service responds; 503 if one does not',
    response: { status: 200, body: HealthAnswer },
  },
});
