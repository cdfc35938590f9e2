import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from '../support/clients/client.ts';
import {
  dashboardCases,
  publicCases,
  type RouteCase,
  sampleBodies,
  sampleParameters,
} from '../support/data/route-cases.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

const allowed = 'https://app.example.com';
const foreign = 'https://evil.example';

let project: UsersProject;
let whitelisted: UsersProject;
let userToken: string;
let whitelistedToken: string;

/** Creates a project with a domain whitelist before its keys are used, so no process has cached another whitelist. */
const withDomains = async (allowedDomains: readonly string[]): Promise<TestProject> => {
  const made = await newProject([{ name: 'notes' }]);
  const answer = await made.developer.dashboard('PATCH', `/api/projects/${made.id}`, { allowedDomains });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return made;
};

beforeAll(async () => {
  project = await newUsersProject();
  whitelisted = await newUsersProject({ settings: { allowedDomains: [allowed] } });
  for (const { addCollection } of [project, whitelisted]) await addCollection({ name: 'notes' });
  userToken = await project.tokenFor('a'.repeat(24));
  whitelistedToken = await whitelisted.tokenFor('a'.repeat(24));
});

const parameters = sampleParameters;
const bodyFor = ({ id, method }: RouteCase): object => (method === 'GET' ? {} : { body: sampleBodies[id] ?? {} });
const baseOf = ({ api }: RouteCase): string =>
  api === 'public' ? inject('stack').baseUrl : inject('stack').dashboardUrl;

describe('CORS of the public API', () => {
  test.each(publicCases)('204 for a preflight without a key: $method $id', async ({ method, pathWith }) => {
    const answer = await call(inject('stack').baseUrl, 'OPTIONS', pathWith(parameters), {
      headers: {
        origin: foreign,
        'access-control-request-method': method,
        'access-control-request-headers': 'x-api-key,authorization,content-type',
      },
    });
    expect(answer.status).toBe(204);
    const { headers } = answer;
    expect(headers.get('access-control-allow-origin')).toBe(foreign);
    expect(headers.get('access-control-allow-credentials')).toBe('true');
    expect(headers.get('vary')).toContain('Origin');
    expect(headers.get('access-control-allow-methods')?.split(',')).toContain(method);
    expect(new Set(headers.get('access-control-allow-headers')?.split(','))).toEqual(
      new Set(
        'content-type,authorization,x-api-key,x-refresh-token,x-refresh-token-mode,idempotency-key,if-match,if-none-match'.split(
          ',',
        ),
      ),
    );
  });

  test.each(publicCases)('every response can be read by the page that sent the request: $method $id', async (route) => {
    const { secretKey, publishableKey: key } = project;
    for (const options of [{}, { key: 'garbage' }, { key: secretKey }, { key }, { key, token: userToken }]) {
      const answer = await call(baseOf(route), route.method, route.pathWith(parameters), {
        ...options,
        ...bodyFor(route),
        headers: { origin: foreign },
      });
      const { headers } = answer;
      expect(headers.get('access-control-allow-origin')).toBe(foreign);
      expect(headers.get('access-control-allow-credentials')).toBe('true');
      expect(new Set(headers.get('access-control-expose-headers')?.split(','))).toEqual(
        new Set(
          'retry-after,ratelimit-limit,ratelimit-remaining,ratelimit-reset,x-request-id,etag,idempotent-replayed'.split(
            ',',
          ),
        ),
      );
    }
  });

  test('also covers unknown routes, invalid paths and large bodies', async () => {
    const { baseUrl } = inject('stack');
    for (const [method, path, body] of [
      ['GET', '/nowhere', undefined],
      ['GET', '/api/data/%', undefined],
      ['POST', '/api/data/notes', 'x'.repeat(11 * 1024 * 1024)],
    ] as const) {
      const answer = await call(baseUrl, method, path, { headers: { origin: foreign }, ...(body ? { body } : {}) });
      expect(answer.headers.get('access-control-allow-origin'), path).toBe(foreign);
    }
  });

  test.each(['null', 'file://', 'chrome-extension://abc', 'app.example.com', '*', 'https:/x', 'javascript:1'])(
    'does not let the origin %s read anything',
    async (origin) => {
      for (const method of ['GET', 'OPTIONS']) {
        const answer = await call(inject('stack').baseUrl, method, '/api/data/notes', {
          key: project.secretKey,
          headers: { origin },
        });
        expect(answer.headers.has('access-control-allow-origin')).toBe(false);
        expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
        expect(answer.headers.get('vary')).toContain('Origin');
      }
    },
  );

  test('never returns the wildcard, which browsers reject with credentials', async () => {
    for (const headers of [{}, { origin: '*' }, { origin: foreign }]) {
      const answer = await call(inject('stack').baseUrl, 'GET', '/api/data/notes', { headers });
      expect(answer.headers.get('access-control-allow-origin')).not.toBe('*');
    }
  });
});

describe('CORS of the dashboard API', () => {
  const dashboardOrigin = 'http://localhost:3000';
  const send = (route: RouteCase, method: string, origin: string) =>
    call(baseOf(route), method, route.pathWith({ ...parameters, projectId: 'x' }), {
      headers: { origin, 'access-control-request-method': route.method },
    });

  test.each(dashboardCases)('allows the dashboard’s own page and no other: $method $id', async (route) => {
    for (const method of ['OPTIONS', route.method]) {
      const own = await send(route, method, dashboardOrigin);
      expect(own.headers.get('access-control-allow-origin')).toBe(dashboardOrigin);
      for (const origin of [
        foreign,
        allowed,
        'null',
        `${dashboardOrigin}.evil.example`,
        'https://localhost:3000',
        'http://localhost',
        'http://localhost:30000',
      ]) {
        const answer = await send(route, method, origin);
        expect(answer.headers.has('access-control-allow-origin'), origin).toBe(false);
        expect(answer.headers.has('access-control-allow-credentials'), origin).toBe(false);
      }
    }
  });
});

describe('the domain whitelist', () => {
  const refused = { status: 403, body: { code: 'ORIGIN_NOT_ALLOWED' } };

  const anywhere: readonly Readonly<Record<string, string>>[] = [
    {},
    { origin: foreign },
    { origin: 'null' },
    { origin: '' },
    { referer: `${allowed}/page` },
    { host: 'app.example.com' },
    { 'x-forwarded-host': 'app.example.com' },
    { 'x-origin': allowed },
  ];
  // These routes need no origin. Browsers navigate to the first three. `get-jwks` and `get-health` need no key, and
  // the mail provider signs its webhooks.
  const open = new Map<string, object>([
    ['start-sign-in', { status: 302 }],
    ['finish-sign-in', { status: 400, body: { code: 'SOCIAL_SIGN_IN_FAILED' } }],
    ['forward-sign-in', { status: 303 }],
    ['get-jwks', { status: 200 }],
    ['get-health', { status: 200 }],
    ['receive-webhook', { status: 400, body: { code: 'INVALID_SIGNATURE' } }],
    ['receive-project-webhook', { status: 400, body: { code: 'INVALID_SIGNATURE' } }],
  ]);
  const ask = (route: RouteCase, options: object) =>
    whitelisted.api(route.method, route.pathWith({ ...parameters, projectId: whitelisted.id }), {
      ...options,
      ...bodyFor(route),
    });

  // Routes that never accept the publishable key reject it before they check the origin.
  const opened = publicCases.filter(({ id, route }) => !open.has(id) && route.access !== 'secretKey');

  test.each(opened)('403 for the publishable key from another or no origin: $method $id', async (route) => {
    const key = whitelisted.publishableKey;
    for (const token of ['', whitelistedToken]) {
      for (const headers of anywhere) {
        expect(await ask(route, { key, token, headers }), JSON.stringify(headers)).toMatchObject(refused);
      }
      const good = await ask(route, { key, token, headers: { origin: allowed } });
      expect(good.body.code).not.toBe('ORIGIN_NOT_ALLOWED');
    }
  });

  test.each(publicCases.filter(({ id }) => open.has(id)))('does not apply to $method $id', async (route) => {
    for (const headers of [...anywhere, { origin: allowed }]) {
      const answer = await ask(route, { key: whitelisted.publishableKey, headers });
      expect(answer, JSON.stringify(headers)).toMatchObject(open.get(route.id) ?? {});
    }
  });

  // Routes that never accept the secret key reject it before they check the origin.
  const takesSecret = ({ route }: RouteCase) => route.access === 'secretKey' || route.access === 'anyKey';

  test.each(publicCases.filter(takesSecret))(
    '403 for the secret key in a page of another origin: $method $id',
    async (route) => {
      for (const origin of [foreign, 'null', '']) {
        const answer = await ask(route, { headers: { origin } });
        expect(answer, origin).toMatchObject(refused);
        expect(answer.body).toMatchObject({ message: expect.stringContaining('into a page') });
      }
    },
  );

  test.each(publicCases)(
    'does not apply to the secret key on a server or in a listed page: $method $id',
    async (route) => {
      for (const headers of [{}, { referer: foreign }, { origin: allowed }]) {
        const answer = await ask(route, { headers });
        const { access } = route.route;
        if (access === 'publishableKey' || access === 'user') {
          expect(answer).toMatchObject({ status: 403, body: { code: 'PUBLISHABLE_KEY_REQUIRED' } });
        } else expect(answer.body.code).not.toBe('ORIGIN_NOT_ALLOWED');
      }
    },
  );

  test.each(publicCases)(
    '200 and more for the secret key from any origin when the whitelist is empty: $method $id',
    async (route) => {
      const { secretKey: key } = project;
      const path = route.pathWith({ ...parameters, projectId: project.id });
      const answer = await call(baseOf(route), route.method, path, {
        key,
        headers: { origin: foreign },
        ...bodyFor(route),
      });
      expect(answer.body.code).not.toBe('ORIGIN_NOT_ALLOWED');
    },
  );

  test('is checked after the key, and before the users block and the collection', async () => {
    const headers = { origin: foreign };
    const key = whitelisted.publishableKey;
    const get = (path: string, options: object) => whitelisted.api('GET', path, { headers, ...options });
    expect(await get('/api/data/notes', { key: 'garbage' })).toMatchObject({ status: 401 });
    expect(await get('/api/data/users', { key })).toMatchObject(refused);
    expect(await get('/api/data/nothing', { key })).toMatchObject(refused);
    expect(await get('/api/data/notes?limit=x', { key })).toMatchObject(refused);
    expect(await get('/api/userAuth/me', { key: 'garbage' })).toMatchObject({ status: 401 });
    expect(await get('/api/userAuth/me', { key })).toMatchObject(refused);
    expect(await get('/api/userAuth/me', {})).toMatchObject({ body: { code: 'PUBLISHABLE_KEY_REQUIRED' } });
  });

  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    [
      'an exact origin',
      ['https://app.example.com'],
      ['https://app.example.com', 'HTTPS://APP.EXAMPLE.COM', 'https://app.example.com:443'],
      [
        'http://app.example.com',
        'https://app.example.com:8443',
        'https://app.example.com.evil.example',
        'https://evil.example?https://app.example.com',
        'https://app.example.com@evil.example',
        'https://xapp.example.com',
        'https://sub.app.example.com',
        'https://app.example.com%2eevil.example',
        'https://app-example.com',
      ],
    ],
    [
      'a bare host',
      ['example.com'],
      ['https://example.com', 'http://example.com', 'https://example.com:8443'],
      ['https://www.example.com', 'https://example.com.evil.example', 'https://notexample.com', 'https://example.co'],
    ],
    [
      'a wildcard',
      ['*.example.com'],
      ['https://a.example.com', 'https://a.b.example.com', 'http://a.example.com:3000'],
      ['https://example.com', 'https://evilexample.com', 'https://a.example.com.evil.example', 'https://aexample.com'],
    ],
    [
      'a host with a port',
      ['localhost:3000'],
      ['http://localhost:3000'],
      ['http://localhost', 'http://localhost:30000'],
    ],
    ['nothing', [], [], ['https://example.com', 'http://localhost']],
    ['everything', ['https://only.example', '*'], ['https://evil.example', 'null', ''], []],
  ])('accepts only the matching origins with %s', async (_what, domains, good, bad) => {
    const { api, publishableKey, secretKey } = await withDomains(domains);
    for (const key of [publishableKey, secretKey]) {
      const from = (origin: string) => api('GET', '/api/data/notes', { key, headers: { origin } });
      for (const origin of good) expect(await from(origin), origin).toMatchObject({ status: 200 });
      for (const origin of bad) expect(await from(origin), origin).toMatchObject(refused);
    }
  });
});
