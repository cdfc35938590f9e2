import { beforeAll, describe, expect, inject, test } from 'vitest';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { methodsOf, type NamedRoute, type RouteTable } from '../../shared/http/route.ts';
import { newApiKey } from '../../shared/projects/project.ts';
import { call } from '../support/clients/client.ts';
import { newDeveloper, newProject, type TestProject } from '../support/fixtures/project.ts';

type Case = readonly [string, string, string, NamedRoute];

/** `[method, path with its parameters filled in, id, route]` for every method of every route. */
const casesOf = (areas: Readonly<Record<string, RouteTable>>, fill: (name: string) => string): Case[] =>
  Object.values(areas).flatMap((table) =>
    Object.values(table).flatMap((route) =>
      methodsOf(route).map(
        (method): Case => [
          method,
          route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => fill(name)),
          route.id,
          route,
        ],
      ),
    ),
  );

const parameters: Readonly<Record<string, string>> = {
  collectionName: 'notes',
  name: 'notes',
  id: 'f'.repeat(24),
  projectId: 'f'.repeat(24),
};
const known = (name: string): string => parameters[name] ?? 'x';

const ofCollections = casesOf(publicRoutes, known).filter(([, , , { path }]) => path.includes('{collectionName}'));

let mine: TestProject;
let other: TestProject;

beforeAll(async () => {
  mine = await newProject([{ name: 'notes' }]);
  other = await newProject([{ name: 'elsewhere' }]);
});

const send = (method: string, path: string, options: Parameters<typeof call>[3] = {}) =>
  call(inject('stack').baseUrl, method, path, { ...(method === 'GET' ? {} : { body: {} }), ...options });

const keyed = casesOf(publicRoutes, known).filter(([, , , { access }]) => access !== 'public');

describe('every route of the public API', () => {
  test.each(keyed)('401 without a key: %s %s', async (method, path) => {
    const answer = await send(method, path);
    expect(answer).toMatchObject({ status: 401, body: { success: false, code: 'API_KEY_MISSING' } });
  });

  test.each(keyed)('401 with garbage for a key: %s %s', async (method, path) => {
    for (const key of ['x', 'sk_live_', `sk_live_${'!'.repeat(32)}`, `{"$ne":null}`]) {
      expect(await send(method, path, { key })).toMatchObject({ status: 401, body: { code: 'API_KEY_INVALID' } });
    }
  });

  test.each(keyed)('401 with an unknown well-formed key: %s %s', async (method, path) => {
    const answer = await send(method, path, { key: newApiKey('secret') });
    expect(answer).toMatchObject({ status: 401, body: { code: 'API_KEY_INVALID' } });
  });

  test.each(ofCollections)("404 with another project's key: %s %s", async (method, path) => {
    const answer = await send(method, path, { key: other.secretKey });
    expect(answer).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } });
  });

  test.each(keyed.filter(([, , , { access }]) => access === 'secretKey'))(
    '403 with the publishable key: %s %s',
    async (method, path) => {
      const answer = await send(method, path, { key: mine.publishableKey });
      expect(answer).toMatchObject({ status: 403, body: { code: 'SECRET_KEY_REQUIRED' } });
    },
  );

  test.each(keyed.filter(([, , , { writes }]) => writes))(
    '403 with the publishable key when the collection has no row security: %s %s',
    async (method, path) => {
      const answer = await send(method, path, { key: mine.publishableKey });
      expect(answer).toMatchObject({ status: 403, body: { code: 'RLS_REQUIRED' } });
    },
  );

  test.each(keyed)('returns an envelope with the request id: %s %s', async (method, path) => {
    const answer = await send(method, path);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('x-request-id')).toBe(answer.body.requestId);
    expect(answer.body).not.toHaveProperty('error');
  });
});

const dashboard = casesOf(dashboardRoutes, known).filter(([, , , { access }]) => access === 'developer');

const sendDashboard = (method: string, path: string, token?: string) =>
  call(inject('stack').dashboardUrl, method, path, {
    ...(method === 'GET' ? {} : { body: {} }),
    ...(token === undefined ? {} : { token }),
  });

describe('every route of the dashboard API', () => {
  test.each(dashboard)('401 without a token: %s %s', async (method, path) => {
    expect(await sendDashboard(method, path)).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
  });

  test.each(dashboard)('401 with garbage for a token: %s %s', async (method, path) => {
    for (const token of ['x', 'a.b.c', mine.secretKey]) {
      expect(await sendDashboard(method, path, token)).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
    }
  });

  test("401 with an end user's token", async () => {
    const token = await mine.tokenFor('f'.repeat(24));
    expect(await sendDashboard('GET', '/api/auth/me', token)).toMatchObject({ status: 401 });
  });

  const owned = casesOf(dashboardRoutes, (name) => `{${name}}`)
    .filter(([, path]) => path.includes('{projectId}'))
    .map(([method, path]): [string, string] => [method, path]);

  test.each(owned)("404 with another developer's token: %s %s", async (method, template) => {
    const stranger = await newDeveloper();
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'projectId' ? mine.id : known(name)));
    const answer = await sendDashboard(method, path, stranger.token);
    expect(answer).toMatchObject({ status: 404, body: { code: 'PROJECT_NOT_FOUND' } });
  });

  test.each(owned)('404 with a malformed project id: %s %s', async (method, template) => {
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'projectId' ? '$ne' : known(name)));
    const answer = await sendDashboard(method, path, mine.developer.token);
    expect(answer).toMatchObject({ status: 404, body: { code: 'PROJECT_NOT_FOUND' } });
  });
});
