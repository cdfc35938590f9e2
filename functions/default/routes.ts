import * as v from 'valibot';
import { defineRoutes } from '../../shared/http/route.ts';

/** API Gateway's `$default` route. */
export const defaultRoutes = defineRoutes({
  'not-found': {
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    path: '/$default',
    access: 'public',
    summary: 'Return 404 for an unknown route',
    response: { status: 404, body: v.never() },
  },
});
