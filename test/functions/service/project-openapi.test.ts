import { Validator } from '@seriousme/openapi-schema-validator';
import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { handler as getOpenapi } from '../../../functions/service/get-openapi.ts';
import { clock } from '../../../shared/core/clock.ts';
import type { OpenApi } from '../../../shared/http/openapi/describe-api.ts';
import { newApiKey } from '../../../shared/projects/project.ts';
import { type Answer, call } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { JsonValidator } from '../../support/fixtures/api-walk/json-validator.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

let project: TestProject;
let answer: Answer<OpenApi>;

const get = <Body = OpenApi>(key?: string, headers: Readonly<Record<string, string>> = {}) =>
  call<Body>(inject('stack').baseUrl, 'GET', '/api/openapi.json', { ...(key && { key }), headers });

afterEach(() => {
  vi.restoreAllMocks();
});

beforeAll(async () => {
  project = await newProject([
    {
      name: 'tasks',
      schema: [
        { key: 'title', type: 'String', required: true },
        { key: 'state', type: 'String', default: 'open' },
        { key: 'due', type: 'Date' },
        { key: 'after', type: 'Ref', ref: 'tasks' },
        {
          key: 'steps',
          type: 'Array',
          items: { type: 'Object', fields: [{ key: 'done', type: 'Boolean', required: true }] },
        },
        { key: 'any', type: 'Array' },
      ],
      rls: { enabled: true, mode: 'private' },
    },
    { name: 'Free-form_2' },
    {
      name: 'users',
      schema: [
        { key: 'email', type: 'String', required: true },
        { key: 'password', type: 'String', required: true },
      ],
    },
  ]);
  answer = await get(project.publishableKey);
});

describe('GET /api/openapi.json with a key', () => {
  test('200 with valid OpenAPI that includes everything of the description without a key', async () => {
    expect(answer.status).toBe(200);
    const { valid, errors } = await new Validator().validate(answer.body);
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    const general = (await get()).body;
    expect(answer.body).toMatchObject({ info: general.info, servers: general.servers, paths: general.paths });
  });

  test('200 with every path of documents for each collection, but none for users', () => {
    const paths = Object.keys(answer.body.paths);
    const general = paths.filter((path) => path.startsWith('/api/data/{collectionName}'));
    for (const name of ['tasks', 'Free-form_2']) {
      const own = paths.filter((path) => path.startsWith(`/api/data/${name}`));
      expect(own).toEqual(general.map((path) => path.replace('{collectionName}', name)));
    }
    expect(paths.filter((path) => path.startsWith('/api/data/users'))).toEqual([]);
    const ids = Object.values(answer.body.paths).flatMap((path) => Object.values(path).map((one) => one.operationId));
    expect(new Set(ids).size).toBe(ids.length);
    expect(JSON.stringify(answer.body.paths['/api/data/tasks'])).not.toContain('{collectionName}');
  });

  test('200 with schemas that accept valid documents and reject invalid ones', async () => {
    const validator = new JsonValidator(answer.body);
    const schema = (part: string) => ['components', 'schemas', `tasks.${part}`];
    const task = {
      title: 'a',
      due: '2026-01-01T00:00:00.000Z',
      steps: [{ done: true }],
      any: [1, null],
      userId: 'ann',
    };
    const made = await project.api('POST', '/api/data/tasks', { body: task });
    expect(validator.problems(schema('insert'), task)).toBeUndefined();
    expect(validator.problems(schema('document'), made.body)).toBeUndefined();
    expect(validator.problems(schema('update'), { 'steps.0.done': false })).toBeUndefined();
    for (const wrong of [{}, { title: 5 }, { title: 'a', steps: [{}] }, { title: 'a', due: 'soon' }]) {
      expect(validator.problems(schema('insert'), wrong)).toBeDefined();
    }
    const list = await project.api('GET', '/api/data/tasks');
    const place = ['paths', '/api/data/tasks', 'get', 'responses', '200', 'content', 'application/json', 'schema'];
    expect(validator.problems(place, list.body)).toBeUndefined();
    const second = await project.api('POST', '/api/data/tasks', { body: { title: 'b', after: made.body._id } });
    for (const query of ['?fields=state', '?meta=false', '?populate=after']) {
      const some = await project.api('GET', `/api/data/tasks${query}`);
      expect({ query, status: some.status }).toEqual({ query, status: 200 });
      expect(validator.problems(place, some.body)).toBeUndefined();
    }
    const onePlace = ['paths', '/api/data/tasks/{id}', 'get', ...place.slice(3)];
    const one = await project.api('GET', `/api/data/tasks/${second.body._id}?populate=after`);
    expect(one.body).toMatchObject({ after: { title: 'a' } });
    expect(validator.problems(onePlace, one.body)).toBeUndefined();
    expect(JSON.stringify(answer.body.paths['/api/data/tasks']?.get)).toContain('#/components/schemas/tasks.listed');
    expect(answer.body.components).not.toHaveProperty(['schemas', 'users.document']);
  });

  test('200 with one ETag for both keys, and 304 when If-None-Match names it', async () => {
    const other = await get(project.secretKey);
    expect(other.body).toEqual(answer.body);
    expect(Object.fromEntries(other.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'private, no-cache',
      etag: answer.headers.get('etag'),
    });
    const again = await get(project.secretKey, { 'if-none-match': answer.headers.get('etag') ?? '' });
    expect(again).toMatchObject({ status: 304, body: {} });
  });

  test('401 with an unknown key, and with an empty one', async () => {
    expect(await get(newApiKey('publishable'))).toMatchObject({ status: 401, body: { code: 'API_KEY_INVALID' } });
    expect(await get(undefined, { 'x-api-key': '' })).toMatchObject({ status: 401, body: { code: 'API_KEY_MISSING' } });
  });

  test('403 from a page whose origin the project does not allow', async () => {
    const own = await newProject();
    await own.developer.dashboard('PATCH', `/api/projects/${own.id}`, { allowedDomains: ['https://shop.example'] });
    const foreign = await get(own.publishableKey, { origin: 'https://foreign.example' });
    expect(foreign).toMatchObject({ status: 403, body: { code: 'ORIGIN_NOT_ALLOWED' } });
  });

  test('costs one find and one count', async () => {
    const ask = () => invoke(getOpenapi, { headers: { 'x-api-key': project.secretKey } });
    // Keeps the cache valid, so that cached settings are not loaded again.
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    await ask();
    expect(await commandsOf(ask)).toEqual(['dynamodb UpdateItemCommand', 'mongodb find']);
  });
});

describe('GET /api/openapi.json without a key', () => {
  test('200 that any cache may store, separately from responses to keys', async () => {
    const { status, headers, body } = await get();
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(headers.get('vary')).toMatch(/x-api-key/);
    expect(JSON.stringify(body)).not.toContain('tasks');
  });

  test('costs no database command', async () => {
    expect(await commandsOf(() => invoke(getOpenapi))).toEqual(['dynamodb UpdateItemCommand']);
  });
});
