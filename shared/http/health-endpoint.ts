import { errorBody } from '../core/error-body.ts';
import { type ErrorCode, statusOf } from '../core/errors.ts';
import { currentRequest } from '../core/request.ts';
import { checkHealth, type Health } from '../usage/health.ts';
import { type Of, pathOf } from './endpoint.ts';
import { rateLimitBeside } from './middleware/rate-limit.ts';
import { jsonHeaders, type Reply } from './reply.ts';
import type { Route } from './route.ts';

/** Public because monitors have no key. The check runs in parallel with the rate limit. */
export const healthEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(rateLimitBeside(route, () => ({ health: checkHealth() })));

const code: ErrorCode = 'SERVICE_UNAVAILABLE';
const retrySeconds = 5;

/** Returns the route's status if all is well, otherwise 503 with `data`. */
export const respondHealth = (route: Route, data: Health): Reply => {
  if (data.status === 'ok') {
    const body = { success: true, data, message: 'Every part of the service responds' };
    return { statusCode: route.response.status, headers: jsonHeaders(), body: JSON.stringify(body) };
  }
  const silent = Object.entries(data.parts).flatMap(([name, { ok }]) => (ok ? [] : [name]));
  const message = `Not every part of the service responds: ${silent.join(', ')}. Retry.`;
  const requestId = currentRequest.getStore()?.requestId ?? '';
  return {
    statusCode: statusOf[code],
    headers: { ...jsonHeaders(), 'retry-after': String(retrySeconds) },
    body: JSON.stringify({ ...errorBody({ code, message }, requestId), data }),
  };
};
