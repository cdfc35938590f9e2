import { expect } from 'vitest';
import type { FaultyStack } from './faulty-stack.ts';
import { dashboardCases, publicCases, type RouteCase, sampleBodies } from './route-cases.ts';

/** What one route answered while something was wrong. */
export interface Swept {
  readonly name: string;
  readonly id: string;
  readonly method: string;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryAfter: string | null;
  readonly ms: number;
}

/**
 * Calls every route of the service once, all at the same time; `collection` is the one that data routes name, dashboard
 * routes name the spare project.
 */
export const sweep = (stack: FaultyStack, collection: string): Promise<Swept[]> => {
  const { spareProjectId: projectId, cookie } = stack;
  const parameters = { projectId, collectionName: collection, id: '0'.repeat(24), indexName: 'none' };
  const ask = async ({ id, method, api, pathWith }: RouteCase): Promise<Swept> => {
    const begin = performance.now();
    const send = api === 'public' ? stack.api : stack.dashboard;
    const { status, body, headers } = await send(method, pathWith(parameters), {
      ...(id in sampleBodies ? { body: sampleBodies[id] } : {}),
      headers: { cookie },
    });
    const ms = performance.now() - begin;
    return { name: `${method} ${id}`, id, method, status, body, retryAfter: headers.get('retry-after'), ms };
  };
  return Promise.all([...publicCases, ...dashboardCases].map(ask));
};

/** What a driver says, and no person should read. */
const driverTalk =
  /mongo|dynamo|smithy|topology|pool|socket|econn|timed? ?out|selection|attempt|undefined|\d+\.\d+\.\d+/i;

/** The one answer to a part that is down: 503 in the envelope within 6 s, saying when to try again, in plain words. */
export const expectUnavailable = ({ name, status, body, retryAfter, ms }: Swept): void => {
  expect({ name, status, body, retryAfter }).toEqual({
    name,
    status: 503,
    body: {
      success: false,
      code: expect.stringMatching(/^(DATABASE|SERVICE)_UNAVAILABLE$/),
      message: expect.not.stringMatching(driverTalk),
      requestId: expect.stringMatching(/./),
    },
    retryAfter: expect.stringMatching(/^[1-9]\d?$/),
  });
  expect(ms, `ms of ${name}`).toBeLessThan(6000);
};
