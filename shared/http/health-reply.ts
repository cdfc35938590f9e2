import { type ErrorCode, statusOf } from '../core/errors.ts';
import { currentRequest } from '../core/log.ts';
import type { Health } from '../insight/health/check-health.ts';
import { jsonHeaders, type Reply } from './reply.ts';
import type { Route } from './route.ts';

const code: ErrorCode = 'SERVICE_UNAVAILABLE';
const retrySeconds = 5;

/** Answers a health check: with the row's own status where all is well, else 503 in the envelope, `data` with it. */
export const respondHealth = (route: Route, data: Health): Reply => {
  if (data.status === 'ok') {
    const body = { success: true, data, message: 'Every part of the service answers' };
    return { statusCode: route.response.status, headers: jsonHeaders(), body: JSON.stringify(body) };
  }
  const silent = Object.entries(data.parts).flatMap(([name, { ok }]) => (ok ? [] : [name]));
  const message = `Not every part of the service answers: ${silent.join(', ')}. Please try again.`;
  const requestId = currentRequest.getStore()?.requestId ?? '';
  return {
    statusCode: statusOf[code],
    headers: { ...jsonHeaders(), 'retry-after': String(retrySeconds) },
    body: JSON.stringify({ success: false, message, code, requestId, data }),
  };
};
