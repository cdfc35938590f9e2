import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { signUpDeveloper } from '../../shared/accounts/developers/developers.ts';
import { issueExchangeCode } from '../../shared/accounts/social/start-sign-in.ts';
import { developerScope } from '../../shared/persistence/item-keys.ts';
import { type Answer, call, cookieOf } from '../support/clients/client.ts';
import { auth, refresh } from '../support/fixtures/developers.ts';
import { newCredentials, newUsersProject, site, type UsersProject } from '../support/fixtures/users.ts';

type Headers = Readonly<Record<string, string>>;

/** The headers of a browser for a request that another site's page caused. */
const foreign: readonly [string, Headers][] = [
  ['a page elsewhere', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['an old browser', { origin: 'https://evil.example' }],
  ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ['no origin', { 'sec-fetch-site': 'cross-site' }],
];

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

const person = () => {
  const credentials = newCredentials();
  return project.signUp(credentials).then(() => credentials);
};

/** Every user route that sets or removes the cookie, in a way that succeeds. */
const userActs: Readonly<Record<string, (headers: Headers) => Promise<Answer<unknown>>>> = {
  'sign-up': (headers) => project.signUp(newCredentials(), headers),
  'sign-in': async (headers) => project.logIn(await person(), headers),
  'refresh-token': async (headers) => {
    const { refreshToken } = await project.newUser();
    return project.auth('POST', 'refresh-token', { headers: { ...headers, 'x-refresh-token': refreshToken } });
  },
  'sign-out': async (headers) => {
    const { refreshToken } = await project.newUser();
    return project.auth('POST', 'logout', { headers: { ...headers, 'x-refresh-token': refreshToken } });
  },
  'delete-account': async (headers) => {
    const { token, password } = await project.newUser();
    return project.auth('DELETE', 'account', { headers, token, body: { password } });
  },
};

const client = { ip: '192.0.2.1', userAgent: 'test' };
const newDeveloper = async () => {
  const credentials = newCredentials();
  return { credentials, ...(await signUpDeveloper(credentials, client)) };
};

/** The same for developers; their refresh needs the cookie itself. */
const developerActs: Readonly<Record<string, (headers: Headers) => Promise<Answer<unknown>>>> = {
  'sign-up-developer': (headers) => auth('POST', 'register', { headers, body: newCredentials() }),
  'sign-in-developer': async (headers) => {
    const { credentials: body } = await newDeveloper();
    return auth('POST', 'login', { headers, body });
  },
  'exchange-developer-code': async (headers) => {
    const { session } = await newDeveloper();
    const body = { token: session.accessToken, rtCode: await issueExchangeCode(developerScope, session) };
    return auth('POST', 'github/exchange', { headers, body });
  },
  'sign-out-developer': (headers) => auth('POST', 'logout', { headers }),
  'delete-developer': async (headers) => {
    const { session, credentials } = await newDeveloper();
    return auth('DELETE', 'account', { headers, token: session.accessToken, body: { password: credentials.password } });
  },
};

const statuses: Readonly<Record<string, number>> = {
  'sign-up': 201,
  'sign-up-developer': 201,
  'delete-developer': 202,
};

/** Pages that keep a developer signed in: configured pages, and the console in any browser. */
const dashboardPages = (): [string, Headers][] => [
  ['a page that may call the dashboard API', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }],
  ['the console, in an old browser', { origin: inject('stack').dashboardUrl }],
];

describe('a request of another site leaves the visitor’s cookies unchanged', () => {
  describe.each(Object.entries({ ...userActs, ...developerActs }))('%s', (name, act) => {
    const status = statuses[name] ?? 200;

    test.each(foreign)(`${status} without set-cookie from %s`, async (_from, headers) => {
      expect(await act(headers)).toMatchObject({ status, cookies: [] });
    });

    test.each<[string, Headers]>([
      ['outside any browser', {}],
      ...(name in userActs
        ? [['the site', { origin: site, 'sec-fetch-site': 'cross-site' }] satisfies [string, Headers]]
        : dashboardPages()),
    ])(`${status} with set-cookie from %s`, async (_from, headers) => {
      const answer = await act(headers);
      expect(answer).toMatchObject({ status, cookies: [expect.stringContaining('refresh')] });
    });
  });

  test.each(foreign)(
    '401 for a refresh of a developer from %s, and the session stays valid',
    async (_from, headers) => {
      const cookie = cookieOf(await auth('POST', 'register', { body: newCredentials() }));
      const answer = await auth('POST', 'refresh', { headers: { ...headers, cookie } });
      expect(answer).toMatchObject({ status: 401, body: { code: 'REFRESH_TOKEN_MISSING' }, cookies: [] });
      expect(await refresh(cookie)).toMatchObject({ status: 200 });
    },
  );

  test('200 with set-cookie from the dashboard API’s own address when the browser sends same-origin', async () => {
    const origin = 'https://one-address.example';
    const from = (headers: Headers) => developerActs['sign-out-developer']?.({ origin, ...headers });
    expect(await from({ 'sec-fetch-site': 'same-origin' })).toMatchObject({ cookies: [expect.any(String)] });
    expect(await from({ 'sec-fetch-site': 'same-site' })).toMatchObject({ cookies: [] });
  });
});

describe('a plain form of another site, which needs no preflight', () => {
  const headers = { 'content-type': 'text/plain', origin: 'https://evil.example' };
  const password = `pass=${randomBytes(8).toString('hex')}`;
  const form = (email: string) => `{"email":"${email}","password":"${password}"}\r\n`;

  test('200 without set-cookie for the sign-in of a developer', async () => {
    const { email } = newCredentials();
    await signUpDeveloper({ email, password }, client);
    const answer = await auth('POST', 'login', { headers, body: form(email) });
    expect(answer).toMatchObject({ status: 200, cookies: [] });
  });

  test('200 without set-cookie for the sign-in of a user', async () => {
    const { email } = newCredentials();
    await project.signUp({ email, password });
    const answer = await call(inject('stack').baseUrl, 'POST', '/api/userAuth/login', {
      key: project.publishableKey,
      headers,
      body: form(email),
    });
    expect(answer).toMatchObject({ status: 200, cookies: [] });
  });
});
