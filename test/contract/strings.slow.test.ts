import { ObjectId } from 'mongodb';
import { is } from 'valibot';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { call } from '../support/clients/client.ts';
import {
  accountCases,
  dashboardCases,
  type RouteCase,
  sampleBodies,
  sampleParameters,
  takesAnything,
} from '../support/data/route-cases.ts';
import { storedUsers } from '../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

/** Values that are not text, among them objects that a query could mistake for operators. */
const noStrings: readonly unknown[] = [
  { $ne: null },
  { $gt: '' },
  { $regex: '.' },
  { $in: ['sample@example.com'] },
  { $where: '1' },
  { $expr: true },
  {},
  { toString: 'x' },
  [],
  ['sample'],
  [{ $ne: null }],
  5,
  0,
  true,
  false,
];

type Path = readonly (string | number)[];

/** Returns the path of every string in a JSON value. */
const stringsIn = (value: unknown, path: Path = []): Path[] => {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => stringsIn(inner, [...path, key]));
};

const replaced = (value: unknown, [first, ...rest]: Path, by: unknown): unknown => {
  if (first === undefined) return by;
  if (Array.isArray(value)) {
    return value.map((item, index) => (index === Number(first) ? replaced(item, rest, by) : (item as unknown)));
  }
  const object = value as Record<string, unknown>;
  return { ...object, [first]: replaced(object[first], rest, by) };
};

let project: UsersProject;
let user: Awaited<ReturnType<UsersProject['newUser']>>;

beforeAll(async () => {
  project = await newUsersProject({
    settings: { signIn: { emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' } },
  });
  await project.addCollection({ name: 'notes' });
  user = await project.newUser();
});

/** Calls a route with the permissions that it needs. */
const ask = ({ api, method }: RouteCase, path: string, body?: unknown) => {
  const options = body === undefined ? {} : { body };
  return api === 'dashboard'
    ? call(inject('stack').dashboardUrl, method, path, { token: project.developer.token, ...options })
    : call(inject('stack').baseUrl, method, path, { key: project.publishableKey, token: user.token, ...options });
};

const send = (route: RouteCase, body: unknown) =>
  ask(route, route.pathWith({ ...sampleParameters, projectId: project.id, id: user.userId }), body);

const withBody = [...dashboardCases, ...accountCases].filter((row) => row.route.body && !takesAnything(row));
const strings = withBody.flatMap((route) =>
  stringsIn(sampleBodies[route.id]).map((path) => ({ ...route, path, name: path.join('.') })),
);

test('samples cover every route and every field of a body', () => {
  for (const table of Object.values({ ...publicRoutes, ...dashboardRoutes })) {
    for (const { id, body } of Object.values(table)) {
      if (!body) continue;
      expect(sampleBodies, id).toHaveProperty(id);
      const { pipe = [] } = body as { pipe?: readonly { type: string; entries?: object }[] };
      const fields = pipe.flatMap(({ entries = {} }) => Object.keys(entries));
      const known = Object.keys(sampleBodies[id] as object).sort();
      // A loose object also accepts the fields of the project’s schema.
      if (pipe.some(({ type }) => type === 'loose_object')) expect(known, id).toEqual(expect.arrayContaining(fields));
      else if (fields.length > 0) expect(known, id).toEqual(fields.sort());
    }
  }
});

describe('another type instead of text', () => {
  test.each(strings)('400 for $name of $method $id', async ({ path, name, ...route }) => {
    await Promise.all(
      noStrings.map(async (value) => {
        const answer = await send(route, replaced(sampleBodies[route.id], path, value));
        expect(answer, `${name} = ${JSON.stringify(value)}`).toMatchObject({ status: 400, body: { success: false } });
        expect(answer.body.message).not.toMatch(/Mongo|BSON|cast|undefined/i);
      }),
    );
  });

  test.each(strings)('no 500 for null as $name of $method $id', async ({ path, ...route }) => {
    const answer = await send(route, replaced(sampleBodies[route.id], path, null));
    // 403 and 404: the sample names a missing resource, or needs more than the project has.
    expect([200, 201, 400, 403, 404, 409]).toContain(answer.status);
  });
});

describe('a body of another type', () => {
  const strangers = ['{"a":1}', '{"$ne":null}'];
  test.each(withBody)('400 for $method $id', async (route) => {
    // A route of user accounts with only optional fields accepts any object and drops unknown fields.
    const others = route.api === 'public' && route.route.body && is(route.route.body, {}) ? [] : strangers;
    for (const body of ['[]', '"text"', '5', 'null', 'true', '{', '', ' ', '[{}]', ...others]) {
      expect(await send(route, body), body).toMatchObject({ status: 400, body: { success: false } });
    }
  });

  const unknown = ['extra', '$set', '_id', 'plan', 'ownerId', 'keys.0', 'constructor', 'prototype', '__proto__'];
  const withUnknown = (id: string, name: string): string =>
    `${JSON.stringify(sampleBodies[id]).slice(0, -1)},"${name}":{"$ne":1}}`;

  test.each(withBody.filter(({ api }) => api === 'dashboard'))(
    '400 for an unknown field in $method $id',
    async (route) => {
      for (const name of unknown) {
        const answer = await send(route, withUnknown(route.id, name));
        expect(answer, name).toMatchObject({ status: 400, body: { success: false } });
      }
    },
  );

  // Clients of user accounts send more than is required. Unknown fields are dropped and must not be stored.
  test.each(withBody.filter(({ api }) => api === 'public'))(
    'unknown fields are not stored by $method $id',
    async (route) => {
      for (const name of unknown) {
        const answer = await send(route, withUnknown(route.id, name));
        expect([200, 201, 400, 401, 404, 409, 429], name).toContain(answer.status);
      }
      for (const stored of await storedUsers(project)) {
        expect(stored._id).toBeInstanceOf(ObjectId);
        for (const name of unknown.filter((of) => of !== '_id')) expect(Object.hasOwn(stored, name), name).toBe(false);
      }
    },
  );
});

describe('operators in the path', () => {
  // The service looks up resources of the mail provider only with the project’s own key.
  beforeAll(async () => {
    await project.developer.dashboard('PATCH', `/api/projects/${project.id}`, { providerApiKey: 're_sample' });
  });

  /** Only document ids are rejected for their form (contract 1, "Ids"). */
  const isDocumentId = ({ route }: RouteCase, name: string): boolean =>
    name === 'id' && /\/(documents|trash)\/\{id\}/.test(route.path);
  const withName = [
    ...dashboardCases.filter(({ parameters }) => parameters.length > 1),
    ...accountCases.filter(({ parameters }) => parameters.length > 0),
  ].flatMap((route) => {
    // The tests of tenants cover `{projectId}`.
    const names = route.api === 'dashboard' ? route.parameters.slice(1) : route.parameters;
    return names.map((name) => ({ ...route, name, status: isDocumentId(route, name) ? 400 : 404 }));
  });

  test.each(withName)('$status for {$name} of $method $id', async ({ name, status, ...route }) => {
    for (const text of ['{"$ne":null}', '[object Object]', '$ne', 'notes[$ne]', '__proto__', 'constructor', '.', '*']) {
      const path = route.pathWith({ ...sampleParameters, projectId: project.id, id: user.userId, [name]: text });
      // The sample has two fields that exclude each other.
      const { since: _since, ...sample } = (sampleBodies[route.id] ?? {}) as Readonly<Record<string, unknown>>;
      const body = route.method === 'GET' ? undefined : sample;
      const answer = await ask(route, path.replace(/\/\.$/, '/%2E'), body);
      // A dot is not a name, so the path ends before it.
      expect(answer, text).toMatchObject({ status: text === '.' ? 404 : status, body: { success: false } });
    }
  });

  test.each([
    'page[$ne]=1',
    'limit[$gt]=1',
    'page=%7B%22%24ne%22%3Anull%7D',
    'limit=1&limit=2',
    'page=1e3',
    'page=0x1',
  ])('200 or 400 for a list with %s', async (query) => {
    const below = `/api/projects/${project.id}`;
    for (const path of [
      '/api/projects',
      `${below}/collections`,
      `${below}/users`,
      `${below}/users/${user.userId}/sessions`,
    ]) {
      const answer = await project.developer.dashboard('GET', `${path}?${query}`);
      expect([200, 400], path).toContain(answer.status);
    }
  });
});

test('nothing exists after all these requests except what null created with defaults', async () => {
  const names = async (path: string): Promise<string[]> => {
    const answer = await project.developer.dashboard<{ data: { items: { name: string }[] } }>('GET', path);
    return answer.body.data.items.map(({ name }) => name).sort();
  };
  expect(await names('/api/projects')).toEqual(['sample', 'sample']);
  expect(await names(`/api/projects/${project.id}/collections`)).toEqual(['notes', 'sample', 'users']);
  expect(await names(`/api/projects/${project.id}/collections/notes/indexes`)).toEqual([]);
  const list = await project.developer.dashboard<{ data: { items: { email: string }[] } }>(
    'GET',
    `/api/projects/${project.id}/users`,
  );
  expect(list.body.data.items.map(({ email }) => email).sort()).toEqual(['sample@example.com', user.email].sort());
});
