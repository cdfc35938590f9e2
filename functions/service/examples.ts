import { defineExamples } from '../../shared/http/openapi/example.ts';
import { serviceRoutes } from './routes.ts';

/** For the API description: a successful request for each route. */
export const serviceExamples = defineExamples(serviceRoutes, {
  'get-openapi': {
    headers: { 'if-none-match': '"0"' },
    isRevised: true,
    failures: ['API_KEY_INVALID', 'ORIGIN_NOT_ALLOWED', 'RESULT_TOO_LARGE', 'DATABASE_UNAVAILABLE'],
  },
  'get-types': { headers: { 'if-none-match': '"0"' }, isRevised: true, failures: ['RESULT_TOO_LARGE'] },
  'get-health': {},
});
