import { randomBytes } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import type { DeveloperRecord } from '../../../shared/accounts/developers/developers.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { type Answer, call, cookieOf, inParallel, type RequestOptions, tally } from '../../support/clients/client.ts';

interface SignIn {
  readonly success: boolean;
  readonly message: string;
  readonly data: {
    readonly accessToken: string;
    readonly expiresIn: string;
    readonly developer: Readonly<Record<string, unknown>>;
  };
}

const send = <Body = Record<string, unknown>>(method: string, path: string, options: RequestOptions = {}) =>
  call<Body>(inject('stack').dashboardUrl, method, `/api/auth/${path}`, options);

const newCredentials = () => ({
  email: `auth-${randomBytes(8).toString('hex')}@example.com`,
  password: randomBytes(12).toString('hex'),
});

const register = (body: unknown) => send<SignIn>('POST', 'register', { body });
const logIn = (body: unknown) => send<SignIn>('POST', 'login', { body });
const me = (token: string) => send<{ data: unknown }>('GET', 'me', { token });

const withCookie = (cookie: string, headers: Record<string, string> = {}) => ({ headers: { cookie, ...headers } });
const refresh = (cookie: string) => send<SignIn>('POST', 'refresh', withCookie(cookie));

const invalidCredentials = {
  status: 401,
  body: { success: false, code: 'INVALID_CREDENTIALS', message: 'Invalid email or password' },
};
const refreshInvalid = { status: 401, body: { code: 'REFRESH_TOKEN_INVALID' } };

describe('register', () => {
  test('201 with the developer, a token that works and a cookie', async () => {
    const { email, password } = newCredentials();
    const answer = await register({ email: `  ${email.toUpperCase()} `, password });
    expect(answer).toMatchObject({ status: 201, body: { success: true, message: 'Account created' } });
    const { accessToken, expiresIn, developer } = answer.body.data;
    expect(Object.keys(answer.body.data).sort()).toEqual(['accessToken', 'developer', 'expiresIn']);
    expect(expiresIn).toBe('15m');
    expect(developer).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      secondFactor: false,
      email,
      plan: 'free',
      emailVerified: false,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(answer.cookies).toEqual([
      expect.stringMatching(
        /^dashboard_refresh=[\w-]{79}; HttpOnly; Path=\/api\/auth; Max-Age=604800; SameSite=Strict$/,
      ),
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await me(accessToken)).toMatchObject({ status: 200, body: { data: developer } });
  });

  test('409 when the address is taken, in any case', async () => {
    const credentials = newCredentials();
    await register(credentials);
    const again = await register({ ...credentials, email: credentials.email.toUpperCase() });
    expect(again).toMatchObject({ status: 409, body: { code: 'DEVELOPER_EXISTS' }, cookies: [] });
  });

  test('201 for one of 50 equal concurrent calls, 409 for the others', async () => {
    const credentials = newCredentials();
    expect(tally(await inParallel(50, () => register(credentials)))).toEqual({ 201: 1, 409: 49 });
  });

  test.each([
    ['1234567', 'must be 8 to 72 bytes long'],
    ['é'.repeat(37), 'must be 8 to 72 bytes long'],
    ['12345678\0', 'must not contain a NUL character'],
  ])('400 for the password %j', async (password, message) => {
    expect(await register({ ...newCredentials(), password })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', message: `Validation failed: password ${message}` },
    });
  });

  test.each(['', 'plain', 'a@b', 'a@b.co\r\nBcc: c@d.co', `${'a'.repeat(250)}@b.co`])(
    '400 for the address %j',
    async (email) => {
      expect(await register({ ...newCredentials(), email })).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED', errors: [{ field: 'email' }] },
      });
    },
  );
});

describe.each(['register', 'login'])('POST /api/auth/%s', (path) => {
  const { email, password } = newCredentials();

  test.each<[string, unknown]>([
    ['an operator as address', { email: { $ne: null }, password }],
    ['a pattern as address', { email: { $regex: '.' }, password }],
    ['a list as address', { email: [email], password }],
    ['a number as address', { email: 7, password }],
    ['null as address', { email: null, password }],
    ['an operator as password', { email, password: { $ne: null } }],
    ['a list as password', { email, password: [password] }],
    ['a number as password', { email, password: 12345678 }],
    ['no address', { password }],
    ['no password', { email }],
    ['an unknown field', { email, password, plan: 'pro' }],
    ['a dotted field', { email, password, 'developer.plan': 'pro' }],
    ['a list', [{ email, password }]],
    ['a string', '"x"'],
    ['null', 'null'],
    ['nothing', ''],
    ['broken JSON', '{"email":'],
  ])('400 for %s', async (_name, body) => {
    const answer = await send('POST', path, { body });
    expect(answer).toMatchObject({ status: 400, body: { success: false }, cookies: [] });
    expect(['VALIDATION_FAILED', 'INVALID_BODY', 'INVALID_JSON']).toContain(answer.body.code);
  });
});

describe('login', () => {
  test('200 with the body of a registration, also after four wrong passwords', async () => {
    const credentials = newCredentials();
    const { developer } = (await register(credentials)).body.data;
    for (let wrong = 0; wrong < 4; wrong++) {
      expect(await logIn({ ...credentials, password: 'not the password' })).toMatchObject(invalidCredentials);
    }
    const answer = await logIn({ ...credentials, email: ` ${credentials.email.toUpperCase()}` });
    expect(answer).toMatchObject({ status: 200, body: { success: true, data: { expiresIn: '15m', developer } } });
    expect(await me(answer.body.data.accessToken)).toMatchObject({ status: 200 });
    expect(await logIn({ ...credentials, password: 'not the password' })).toMatchObject(invalidCredentials);
  });

  test.each([
    ['an unknown address', newCredentials()],
    ['an address that cannot be', { email: 'plain', password: 'not the password' }],
    ['an empty password', { ...newCredentials(), password: '' }],
    ['a password that cannot be', { ...newCredentials(), password: 'x'.repeat(1000) }],
  ])('401 as for a wrong password for %s', async (_name, credentials) => {
    const answer = await logIn(credentials);
    expect(answer).toMatchObject({ ...invalidCredentials, cookies: [] });
    expect(Object.keys(answer.body).sort()).toEqual(['code', 'docUrl', 'message', 'requestId', 'success']);
  });

  test('401 for at most five of 50 concurrent wrong passwords, 429 for the others and for the correct one', async () => {
    const credentials = newCredentials();
    await register(credentials);
    const wrong = await inParallel(50, (index) => logIn({ ...credentials, password: `wrong guess ${index}` }));
    expect(tally(wrong)).toEqual({ 401: 5, 429: 45 });
    const locked = await logIn(credentials);
    expect(locked).toMatchObject({ status: 429, body: { code: 'ACCOUNT_LOCKED' } });
    const seconds = Number(locked.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(600);
    expect(seconds).toBeLessThanOrEqual(900);
  });
});

describe('refresh', () => {
  test('200 with new tokens and a new cookie; the old cookie no longer works', async () => {
    const registered = await register(newCredentials());
    const first = cookieOf(registered);
    const second = await refresh(first);
    expect(second).toMatchObject({ status: 200, body: { data: { developer: registered.body.data.developer } } });
    expect(cookieOf(second)).not.toBe(first);
    expect(await me(second.body.data.accessToken)).toMatchObject({ status: 200 });
    expect(await refresh(first)).toMatchObject(refreshInvalid);
    expect(await refresh(cookieOf(second))).toMatchObject({ status: 200 });
  });

  test('200 for exactly one of 50 concurrent requests, whose cookie keeps working', async () => {
    const cookie = cookieOf(await register(newCredentials()));
    const answers = await inParallel(50, () => refresh(cookie));
    expect(tally(answers)).toEqual({ 200: 1, 401: 49 });
    const winner = answers.find(({ status }) => status === 200) as Answer<SignIn>;
    expect(await refresh(cookieOf(winner))).toMatchObject({ status: 200 });
  });

  test('200 with the same cookie for a retry with its Idempotency-Key; 401 without it', async () => {
    const cookie = cookieOf(await register(newCredentials()));
    const again = () => send<SignIn>('POST', 'refresh', withCookie(cookie, { 'idempotency-key': 'one-renewal' }));
    const answers = await inParallel(10, again);
    expect(tally(answers)).toEqual({ 200: 10 });
    const [next = '', ...others] = new Set(answers.map(cookieOf));
    expect(others).toEqual([]);
    expect(await refresh(cookie)).toMatchObject(refreshInvalid);
    expect(await refresh(next)).toMatchObject({ status: 200 });
  });

  test('400 for an invalid Idempotency-Key', async () => {
    const cookie = cookieOf(await register(newCredentials()));
    const answer = await send('POST', 'refresh', withCookie(cookie, { 'idempotency-key': 'two words' }));
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(await refresh(cookie)).toMatchObject({ status: 200 });
  });

  test.each([
    ['no cookie', {}],
    ['an empty cookie', withCookie('dashboard_refresh=')],
    ['another cookie', withCookie('refresh=x; xdashboard_refresh=y')],
    ['a header instead', { headers: { 'x-refresh-token': 'x'.repeat(75) } }],
  ])('401 as for a missing token with %s', async (_name, options) => {
    expect(await send('POST', 'refresh', options)).toMatchObject({
      status: 401,
      body: { code: 'REFRESH_TOKEN_MISSING', message: 'Refresh token missing' },
    });
  });

  test('401 as for a missing token when another site makes the browser send it', async () => {
    const cookie = cookieOf(await register(newCredentials()));
    const answer = await send('POST', 'refresh', withCookie(cookie, { 'sec-fetch-site': 'cross-site' }));
    expect(answer).toMatchObject({ status: 401, body: { code: 'REFRESH_TOKEN_MISSING' } });
    expect(await refresh(cookie)).toMatchObject({ status: 200 });
  });

  test.each(['x', 'A'.repeat(75), '%00', '{"$ne":null}', 'x'.repeat(5000)])('401 for the token %s', async (token) => {
    expect(await refresh(`dashboard_refresh=${token}`)).toMatchObject(refreshInvalid);
  });

  test('401 when the developer’s account is deleted', async () => {
    const credentials = newCredentials();
    const registered = await register(credentials);
    await onControl((db) => db.collection('developers').deleteOne({ email: credentials.email }));
    expect(await refresh(cookieOf(registered))).toMatchObject(refreshInvalid);
    expect(await me(registered.body.data.accessToken)).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });
});

describe('logout', () => {
  test('200, the cookie is removed and its session cannot refresh; another session of the developer can', async () => {
    const credentials = newCredentials();
    const here = cookieOf(await register(credentials));
    const there = cookieOf(await logIn(credentials));
    const answer = await send('POST', 'logout', withCookie(here));
    expect(answer).toMatchObject({ status: 200, body: { success: true, message: 'Logged out' } });
    expect(answer.body).not.toHaveProperty('data');
    expect(answer.cookies).toEqual(['dashboard_refresh=; HttpOnly; Path=/api/auth; Max-Age=0; SameSite=Strict']);
    expect(await refresh(here)).toMatchObject(refreshInvalid);
    expect(await refresh(there)).toMatchObject({ status: 200 });
  });

  test('200 with an older token of the session too, which ends then', async () => {
    const older = cookieOf(await register(newCredentials()));
    const newest = cookieOf(await refresh(older));
    expect(await send('POST', 'logout', withCookie(older))).toMatchObject({ status: 200 });
    expect(await refresh(newest)).toMatchObject(refreshInvalid);
  });

  test.each(['', 'dashboard_refresh=x', `dashboard_refresh=${'A'.repeat(75)}`])(
    '200 with the cookie "%s"',
    async (cookie) => {
      expect(await send('POST', 'logout', withCookie(cookie))).toMatchObject({ status: 200, body: { success: true } });
    },
  );

  test('200 and no session ends when a token is forged from a session’s ids', async () => {
    const cookie = cookieOf(await register(newCredentials()));
    const forged = `${cookie.slice(0, -20)}${'A'.repeat(20)}`;
    expect(await send('POST', 'logout', withCookie(forged))).toMatchObject({ status: 200 });
    expect(await refresh(cookie)).toMatchObject({ status: 200 });
  });
});

describe('me', () => {
  test.each([
    ['no token', {}, 'TOKEN_MISSING'],
    ['garbage', { token: 'a.b.c' }, 'TOKEN_INVALID'],
    ['another scheme', { headers: { authorization: 'Basic eA==' } }, 'TOKEN_MISSING'],
  ])('401 with %s', async (_name, options, code) => {
    expect(await send('GET', 'me', options)).toMatchObject({ status: 401, body: { code } });
  });
});

test('the database stores a bcrypt hash of the set cost, and no other form of the password', async () => {
  const { email, password } = newCredentials();
  await register({ email, password });
  const record = await onControl((db) => db.collection<DeveloperRecord>('developers').findOne({ email }));
  expect(record?.passwordHash).toMatch(/^\$2b\$\d\d\$/);
  expect(JSON.stringify(record)).not.toContain(password);
});
