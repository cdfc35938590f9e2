import { defineExamples } from '../../shared/http/openapi/example.ts';
import { serviceRoutes } from './routes.ts';

/** For the API description: a successful request for each route. */
export const serviceExamples = defineExamples(serviceRoutes, { 'get-openapi': {}, 'get-types': {}, 'get-health': {} });
