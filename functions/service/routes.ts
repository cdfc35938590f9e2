import * as v from 'valibot';
import { defineRoutes } from '../../shared/http/route.ts';
import { HealthAnswer, OpenApiAnswer } from './schemas.ts';

export const serviceRoutes = defineRoutes({
  'get-openapi': {
    method: 'GET',
    path: '/api/openapi.json',
    access: 'public',
    summary: "Read the OpenAPI description of the public API; with a key, also of the project's collections",
    response: { status: 200, body: OpenApiAnswer },
    example: { headers: { 'if-none-match': '"0"' } },
    isRevised: true,
    errors: ['API_KEY_INVALID', 'ORIGIN_NOT_ALLOWED', 'RESULT_TOO_LARGE', 'DATABASE_UNAVAILABLE'],
  },
  'get-types': {
    method: 'GET',
    path: '/api/types.ts',
    access: 'anyKey',
    summary: "Get the TypeScript types of the project's collections",
    response: { status: 200, body: v.string(), text: true },
    example: { headers: { 'if-none-match': '"0"' } },
    isRevised: true,
    errors: ['RESULT_TOO_LARGE'],
  },
  'get-health': {
    method: 'GET',
    head: true,
    path: '/api/health',
    access: 'public',
    summary: 'Check whether every part of the service responds; 503 if one does not',
    response: { status: 200, body: HealthAnswer },
  },
});
