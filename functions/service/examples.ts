import { defineExamples } from '../../shared/http/openapi/example.ts';
import { serviceRoutes } from './routes.ts';

/** For the API description: a request of each row that succeeds. */
export const serviceExamples = defineExamples(serviceRoutes, { 'get-openapi': {}, 'get-health': {} });
