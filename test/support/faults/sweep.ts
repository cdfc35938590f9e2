import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { RequestOptions } from '../clients/client.ts';
import { site } from '../clients/social.ts';
import { promisedMs } from '../data/promised.ts';
import { dashboardCases, publicCases, type RouteCase, sampleBodies, sampleParameters } from '../data/route-cases.ts';
import type { FaultyStack } from './faulty-stack.ts';

/** A route's response during a fault. */
export interface Swept {
  readonly name: string;
  readonly id: string;
  readonly method: string;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryAfter: string | null;
  readonly location: string | null;
  readonly ms: number;
}

/** Calls a route and measures its response time. */
export const observe = async (
  { id, method }: Pick<RouteCase, 'id' | 'method'>,
  send: FaultyStack['api'],
  path: string,
  options: RequestOptions,
): Promise<Swept> => {
  const begin = performance.now();
  const { status, body, headers } = await send(method, path, options);
  const ms = performance.now() - begin;
  const retryAfter = headers.get('retry-after');
  return { name: `${method} ${id}`, id, method, status, body, retryAfter, location: headers.get('location'), ms };
};

/** Concurrent routes during a fault; a small machine can handle this many in time. */
const crowded = 90;

/** A browser's return from a provider: a plausible state and its cookie. */
const providerReturn = (whose: string) => {
  const state = `${whose}.${randomBytes(32).toString('base64url')}`;
  const name = `social_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;
  return { query: `?state=${state}&code=sample`, cookie: `${name}=${randomBytes(32).toString('base64url')}` };
};

/** An unused address, so that failed sign-ins never lock the next sweep out. */
const newAddress = () => ({ email: `${randomBytes(8).toString('hex')}@example.com`, password: 'sample-password' });

/** Bodies without harmful effects, such as a wrong password that locks the developer out. */
const bodyFor = (id: string): unknown => {
  if (id === 'sign-in-by-code' || id === 'sign-in-developer-by-code')
    return { email: newAddress().email, code: 'AAAA-AAAA' };
  if (id.startsWith('sign-in') && !id.endsWith('-with-factor')) return newAddress();
  if (id === 'change-developer-password') return { newPassword: 'sample-password' };
  if (id === 'request-email-change') return { email: newAddress().email };
  return id === 'delete-developer' || id === 'delete-account' ? {} : sampleBodies[id];
};

/** The prerequisites of a route's own work. */
const optionsFor = (
  stack: FaultyStack,
  { id, api, route }: RouteCase,
): RequestOptions & { readonly query?: string } => {
  if (id === 'finish-developer-sign-in') {
    const { query, cookie } = providerReturn('developers');
    return { query, headers: { cookie } };
  }
  if (api === 'dashboard') return { headers: { cookie: stack.cookie } };
  if (id === 'refresh-token' || id === 'sign-out')
    return { headers: { 'x-refresh-token': stack.unusedRefreshToken() } };
  if (id === 'finish-sign-in') {
    const { query, cookie } = providerReturn(stack.projectId);
    return { query, headers: { cookie } };
  }
  return route.access === 'user' ? { token: stack.userToken } : {};
};

/** Options of a sweep. */
interface SweepOptions {
  /** An additional collection for data routes. */
  readonly another?: string;
  readonly atOnce?: number;
}

/**
 * Calls every route one time, many concurrently, except health routes. Data routes use `notes`, dashboard routes the
 * spare project.
 */
export const sweep = async (stack: FaultyStack, { another, atOnce = crowded }: SweepOptions = {}): Promise<Swept[]> => {
  const ask = ({ row, collection }: { row: RouteCase; collection: string }): Promise<Swept> => {
    const { id, api, route, pathWith } = row;
    const path = pathWith({
      ...sampleParameters,
      projectId: api === 'public' ? stack.projectId : stack.spareProjectId,
      collectionName: collection,
      id: '0'.repeat(24),
      sessionId: '0'.repeat(24),
      indexName: 'none',
      username: 'nobody',
      provider: 'github',
    });
    const { query = '', ...options } = optionsFor(stack, row);
    const body = bodyFor(id);
    const forUsers = route.access === 'publishableKey' || route.access === 'user';
    const keyed = forUsers ? { key: stack.publishableKey } : {};
    const send = api === 'public' ? stack.api : stack.dashboard;
    return observe(row, send, path + query, { ...options, ...keyed, ...(body === undefined ? {} : { body }) });
  };
  const rows = [...publicCases, ...dashboardCases].filter(({ route }) => route.path !== '/api/health');
  const named = publicCases.filter(({ parameters }) => another !== undefined && parameters.includes('collectionName'));
  const calls = [
    ...rows.map((row) => ({ row, collection: 'notes' })),
    ...named.map((row) => ({ row, collection: another ?? '' })),
  ];
  const answers: Swept[] = [];
  while (calls.length > 0) answers.push(...(await Promise.all(calls.splice(0, atOnce).map(ask))));
  return answers;
};

/** Driver messages, which users must not see. */
const driverTalk =
  /mongo|dynamo|smithy|topology|pool|socket|econn|timed? ?out|selection|attempt|undefined|\d+\.\d+\.\d+/i;

/** The only correct response while a part is down: 503 in the envelope within 6 s, with Retry-After and plain words. */
export const expectUnavailable = ({ name, status, body, retryAfter, ms }: Swept): void => {
  expect({ name, status, body, retryAfter }).toEqual({
    name,
    status: 503,
    body: {
      success: false,
      code: expect.stringMatching(/^(DATABASE|SERVICE)_UNAVAILABLE$/),
      message: expect.not.stringMatching(driverTalk),
      requestId: expect.stringMatching(/./),
      docUrl: expect.stringMatching(/\/reference\/errors#(database|service)_unavailable$/),
    },
    retryAfter: expect.stringMatching(/^[1-9]\d?$/),
  });
  expect(ms, `ms of ${name}`).toBeLessThan(promisedMs);
};

/**
 * A failed social sign-in (contract 3, "Social"): the browser returns to the project's site or the dashboard, with the
 * reason in plain words.
 */
export const expectErrorLanding = ({ name, id, status, location }: Swept): void => {
  const { origin, pathname, searchParams } = new URL(location ?? 'none:');
  expect({ name, status, page: origin + pathname, error: searchParams.get('error') }).toEqual({
    name,
    status: 302,
    page: id.endsWith('-developer-sign-in')
      ? expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/auth\/callback$/)
      : `${site}/auth/callback`,
    error: expect.stringMatching(/\bretry\.$/i),
  });
  expect(searchParams.get('error')).not.toMatch(driverTalk);
};
