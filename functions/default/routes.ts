import * as v from 'valibot';
import { defineRoutes } from '../../shared/http/route.ts';

/** What answers where no row matches: the `$default` route of the public API and of the dashboard API. */
export const defaultRoutes = defineRoutes({
  'not-found': {
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    path: '/$default',
    access: 'public',
    summary: 'Return 404 for an unknown route',
    response: { status: 404, body: v.never() },
  },
});
