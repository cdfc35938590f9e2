import { beforeAll, describe, expect, inject, test } from 'vitest';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { call } from '../support/client.ts';
import { newProject, type TestProject } from '../support/project.ts';
import { dashboardCases, type RouteCase, sampleBodies } from '../support/route-cases.ts';

/** What a query could mistake for an operator, and other things that are no text. */
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

/** Every string in a JSON value, by its path. */
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

let project: TestProject;

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }]);
});

const send = ({ method, pathWith }: RouteCase, body: unknown) =>
  call(
    inject('stack').dashboardUrl,
    method,
    pathWith({ projectId: project.id, collectionName: 'notes', indexName: 'none' }),
    { token: project.developer.token, body },
  );

const withBody = dashboardCases.filter(({ route }) => route.body);
const strings = withBody.flatMap((route) =>
  stringsIn(sampleBodies[route.id]).map((path) => ({ ...route, path, name: path.join('.') })),
);

test('the samples know every row and every field that takes a body', () => {
  for (const table of Object.values({ ...publicRoutes, ...dashboardRoutes })) {
    for (const { id, body } of Object.values(table)) {
      if (!body) continue;
      expect(sampleBodies, id).toHaveProperty(id);
      const { pipe = [] } = body as { pipe?: readonly { entries?: object }[] };
      const fields = pipe.flatMap(({ entries = {} }) => Object.keys(entries));
      if (fields.length > 0) expect(Object.keys(sampleBodies[id] as object).sort(), id).toEqual(fields.sort());
    }
  }
});

describe('something else where text belongs', () => {
  test.each(strings)('400 for $name of $method $id', async ({ path, name, ...route }) => {
    await Promise.all(
      noStrings.map(async (value) => {
        const answer = await send(route, replaced(sampleBodies[route.id], path, value));
        expect(answer, `${name} = ${JSON.stringify(value)}`).toMatchObject({ status: 400, body: { success: false } });
        expect(answer.body.message).not.toMatch(/Mongo|BSON|cast|undefined/i);
      }),
    );
  });

  test.each(strings)('200 or 400 for null as $name of $method $id', async ({ path, ...route }) => {
    const answer = await send(route, replaced(sampleBodies[route.id], path, null));
    expect([200, 201, 400, 409]).toContain(answer.status);
  });
});

describe('a body of another kind', () => {
  test.each(withBody)('400 for $method $id', async (route) => {
    for (const body of ['[]', '"text"', '5', 'null', 'true', '{', '', ' ', '[{}]', '{"a":1}', '{"$ne":null}']) {
      expect(await send(route, body), body).toMatchObject({ status: 400, body: { success: false } });
    }
  });

  test.each(withBody)('400 for a field that $method $id does not know', async (route) => {
    const sample = JSON.stringify(sampleBodies[route.id]).slice(0, -1);
    for (const name of ['extra', '$set', '_id', 'plan', 'ownerId', 'keys.0', 'constructor', 'prototype', '__proto__']) {
      const answer = await send(route, `${sample},"${name}":{"$ne":1}}`);
      expect(answer, name).toMatchObject({ status: 400, body: { success: false } });
    }
  });
});

describe('operators in the path', () => {
  const withName = dashboardCases.filter(({ parameters }) => parameters.length > 1);

  test.each(withName)('404 for $method $id', async ({ id, method, parameters, pathWith }) => {
    for (const text of ['{"$ne":null}', '[object Object]', '$ne', 'notes[$ne]', '__proto__', 'constructor', '.', '*']) {
      const path = pathWith({
        projectId: project.id,
        collectionName: parameters.includes('indexName') ? 'notes' : text,
        indexName: text,
      });
      const answer = await call(inject('stack').dashboardUrl, method, path.replace(/\/\.$/, '/%2E'), {
        token: project.developer.token,
        ...(method === 'GET' ? {} : { body: sampleBodies[id] ?? {} }),
      });
      expect(answer, text).toMatchObject({ status: 404, body: { success: false } });
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
    for (const path of ['/api/projects', `/api/projects/${project.id}/collections`]) {
      const answer = await project.developer.dashboard('GET', `${path}?${query}`);
      expect([200, 400]).toContain(answer.status);
    }
  });
});

test('after all of this nothing has come into being but what null left to its default', async () => {
  const names = async (path: string): Promise<string[]> => {
    const answer = await project.developer.dashboard<{ data: { items: { name: string }[] } }>('GET', path);
    return answer.body.data.items.map(({ name }) => name).sort();
  };
  expect(await names('/api/projects')).toEqual(['sample', 'sample']);
  expect(await names(`/api/projects/${project.id}/collections`)).toEqual(['notes', 'sample']);
  expect(await names(`/api/projects/${project.id}/collections/notes/indexes`)).toEqual([]);
});
