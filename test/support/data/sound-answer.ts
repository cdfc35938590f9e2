import { expect } from 'vitest';
import { type ErrorCode, statusOf } from '../../../shared/core/errors.ts';
import type { Answer } from '../clients/client.ts';
import { site } from '../fixtures/users.ts';
import { promisedMs } from './promised.ts';

let fuzzed = 0;
let failed = 0;

/** The number of checked responses, and of 5xx among them. */
export const requestsFuzzed = () => ({ fuzzed, failed });

/** The correct response of a service without a language model, like the tests'. */
const withoutModel = 'NOT_SET_UP';

const internals =
  /Mongo|BSON|E11000|PlanExecutor|Location\d{3}|undefined is not|Cannot read|node_modules|p_[0-9a-f]{24}/;

/** Checks what every response must fulfil. */
export const requireSound = ({ status, body, headers }: Answer<Record<string, unknown> | string>, ms: number): void => {
  fuzzed += 1;
  if (typeof body === 'string' || body.code !== withoutModel) {
    if (status >= 500) failed += 1;
    expect(status).toBeLessThan(500);
  }
  expect(ms).toBeLessThan(promisedMs);
  if (status === 302 || status === 303) {
    const { origin, pathname } = new URL(headers.get('location') ?? '');
    if (status === 302) expect(origin).toBe(site);
    else expect(pathname).toMatch(/^\/api\/userAuth\/social\/[\w%:-]+\/callback$/);
    return;
  }
  if (typeof body === 'string') {
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 200, type: 'text/plain; charset=utf-8' });
    return;
  }
  expect(headers.get('content-type')).toBe('application/json');
  if (status < 400) return;
  // The gateway itself rejects invalid escapes and long headers.
  if ((status === 400 || status === 431) && body.code === undefined) return;
  const { success, message, code, requestId, docUrl, errors, ...more } = body;
  expect({ success, status, more }).toEqual({ success: false, status: statusOf[code as ErrorCode], more: {} });
  expect(message).toEqual(expect.stringMatching(/\S/));
  expect(requestId).toBe(headers.get('x-request-id'));
  expect(docUrl).toMatch(new RegExp(`^http.*/docs/reference/errors#${String(code).toLowerCase()}$`));
  if (errors !== undefined) expect(Array.isArray(errors)).toBe(true);
  expect(JSON.stringify([message, errors])).not.toMatch(internals);
};
