import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Child, startChild } from '../../infra/local/child.ts';
import { issueAccessToken } from '../../shared/auth/access-tokens.ts';
import { sealedTo } from '../../shared/auth/signing-keys.ts';
import type { UserRecord } from '../../shared/auth/users/user-record.ts';
import { closeMongo, onControl, onProject } from '../../shared/clients/mongo.ts';
import type { DeveloperRecord } from '../../shared/developers/developer-record.ts';
import { setPlan } from '../../shared/developers/set-plan.ts';
import type { MailJob } from '../../shared/mail/mail-job.ts';
import { findProjectByKey } from '../../shared/projects/find-project.ts';
import type { ProjectRecord } from '../../shared/projects/project-record.ts';
import type { SocialProvider } from '../../shared/projects/social-providers.ts';
import { open } from '../../shared/secrets/sealed.ts';
import { Browser, formWith, target } from '../support/browser.ts';
import { type Answer, call, type RequestOptions } from '../support/client.ts';
import { codeIn, mailTo, tokenIn } from '../support/inbox.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { dashboardCases, publicCases, type RouteCase, sampleBodies, sampleParameters } from '../support/route-cases.ts';
import { landingOf } from '../support/social.ts';
import { users } from '../support/users.ts';

/*
 * A stack of its own that logs all it ever logs; every route is called well and badly, then every answer and every line is
 * searched for what must not leave the service.
 */

interface Told {
  readonly route: string;
  /** Status, headers, cookies apart, and body, as one text. */
  readonly text: string;
  readonly cookies: string;
}

interface Secret {
  readonly what: string;
  readonly value: string;
  /** Routes whose answer is the one place where it is shown. */
  readonly shownBy?: readonly string[];
}

const password = 'correct-horse-battery';
const wrongPassword = 'wrong-horse-battery';
const userPassword = '$2b$12$KIXQ4S4pPz1u8gk5wqv0yO5l3rj8s2mC1ZJ0o1b2c3d4e5f6g7h8i';
const inDocuments = 'what-a-document-holds';
const email = 'secrets@example.com';
const userEmail = 'secrets-user@example.com';
const clientSecret = 'client-secret-of-github-0123456789';
const passwords = ['first', 'second', 'third', 'fourth'].map((which) => `${which}-password-of-the-user`);

const lines: string[] = [];
const told: Told[] = [];
const secrets: Secret[] = [];
let directory: string;
let child: Child;
let stack: { baseUrl: string; dashboardUrl: string; env: Record<string, string> };

const startLoggingStack = async (): Promise<void> => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-secrets-'));
  const started = Promise.withResolvers<typeof stack>();
  child = startChild({
    name: 'the logging stack',
    command: process.execPath,
    args: [path.resolve(import.meta.dirname, '../support/serve-stack.ts'), directory],
    env: { ...plainEnvironment(), RATE_LIMIT: '0', PASSWORD_COST: '4', LOG: 'debug' },
    onLine: (line) => {
      if (line.startsWith('{"baseUrl":')) started.resolve(JSON.parse(line) as typeof stack);
      else lines.push(line);
    },
    onExit: (detail) => started.reject(new Error(detail)),
  });
  stack = await started.promise;
  // Domain functions that run here look into that stack's databases.
  Object.assign(process.env, stack.env, { LOG: 'silent' });
};

const send = async (
  { id, method, api, pathWith }: RouteCase,
  parameters: Record<string, string>,
  options: RequestOptions & { readonly query?: string } = {},
): Promise<Answer<Record<string, unknown>>> => {
  const base = api === 'public' ? stack.baseUrl : stack.dashboardUrl;
  const answer = await call(base, method, pathWith(parameters) + (options.query ?? ''), options);
  const headers = [...answer.headers].filter(([name]) => name !== 'set-cookie');
  told.push({
    route: id,
    text: JSON.stringify([answer.status, headers, answer.body]),
    cookies: answer.cookies.join('\n'),
  });
  return answer;
};

const routeNamed = (id: string): RouteCase => {
  const found = [...publicCases, ...dashboardCases].find((route) => route.id === id);
  if (!found) throw new Error(`There is no route ${id}`);
  return found;
};

interface SignIn {
  readonly data?: { readonly accessToken: string };
  readonly accessToken?: string;
  readonly refreshToken?: string;
  readonly userId?: string;
}

const noteHashed = (what: string, value: string): void => {
  for (const encoding of ['hex', 'base64url'] as const) {
    secrets.push({ what: `${what}, hashed`, value: createHash('sha256').update(value).digest(encoding) });
  }
};

/** Signs in by one of the routes and notes the tokens as secrets. */
const signIn = async (id: string, options: RequestOptions): Promise<{ token: string; cookie: string }> => {
  const answer = await send(routeNamed(id), {}, options);
  const { data, accessToken, refreshToken: inBody } = answer.body as SignIn;
  const token = data?.accessToken ?? accessToken ?? '';
  const cookie = answer.cookies[0]?.split(';')[0] ?? '';
  const [, refreshToken = ''] = cookie.split('=');
  secrets.push({ what: `access token of ${id}`, value: token, shownBy: [id] });
  // Only who asks for it has it in the body too.
  const asked = options.headers?.['x-refresh-token-mode'] === 'header';
  expect(inBody).toBe(asked ? refreshToken : undefined);
  secrets.push({ what: `refresh token of ${id}`, value: refreshToken, ...(asked ? { shownBy: [id] } : {}) });
  noteHashed(`refresh token of ${id}`, refreshToken);
  return { token, cookie };
};

const noteStoredSecrets = async (projectId: string): Promise<void> => {
  const developer = await onControl((db) => db.collection<DeveloperRecord>('developers').findOne({ email }));
  const project = await onControl((db) =>
    db.collection<ProjectRecord>('projects').findOne({ _id: new ObjectId(projectId) }),
  );
  if (!developer || !project) throw new Error('The records are gone');
  secrets.push({ what: 'password hash', value: developer.passwordHash });
  for (const { hash } of project.keys) secrets.push({ what: 'key hash', value: hash });
  for (const { kid, encryptedPrivateKey } of project.signingKeys) {
    const { d } = JSON.parse(await open(encryptedPrivateKey, sealedTo(projectId, kid))) as { d: string };
    secrets.push({ what: 'signing private key', value: d });
    secrets.push({ what: 'sealed private key', value: encryptedPrivateKey });
  }
  for (const provider of Object.values(project.socialProviders ?? {})) {
    const { sealedClientSecret } = provider as SocialProvider;
    if (sealedClientSecret) secrets.push({ what: 'sealed client secret', value: sealedClientSecret });
  }
  const jobs = await onControl((db) => db.collection<MailJob>('mailJobs').find().toArray());
  for (const { variables } of jobs)
    if (variables) secrets.push({ what: 'sealed variables of a mail', value: variables });
};

const noteUsers = async (secretKey: string): Promise<void> => {
  const match = await findProjectByKey(secretKey, '');
  if (!match) throw new Error('The project is gone');
  const stored = await onProject(match.project, (db) => db.collection<UserRecord>('users').find().toArray());
  for (const user of stored) secrets.push({ what: `password hash of ${user.email}`, value: user.password });
};

/** The token and the code of the latest of `count` mails to the user, noted as secrets. */
const openMail = async (count: number): Promise<{ token: string; otp: string }> => {
  const mail = await mailTo(userEmail, count, stack.env.MAIL_PROVIDER_URL);
  const [token, otp] = [tokenIn(mail), codeIn(mail)];
  secrets.push({ what: 'token of a mail', value: token }, { what: 'code of a mail', value: otp });
  noteHashed('token of a mail', token);
  return { token, otp };
};

/** The whole social sign-in of a browser; its tokens are shown where the contract says, and nowhere else. */
const signInWithGitHub = async (key: string): Promise<void> => {
  const path = { provider: 'github' };
  const started = await send(routeNamed('start-social'), path, { query: `?x-api-key=${key}` });
  const cookie = started.cookies[0]?.split(';')[0] ?? '';
  secrets.push({ what: 'verifier of a browser', value: cookie.split('=')[1] ?? '' });
  const browser = new Browser();
  const { action, form } = formWith(await browser.open(started.headers.get('location') ?? ''), 'octocat');
  const { searchParams, search } = target(await browser.open(action, form));
  secrets.push({ what: 'code of the provider', value: searchParams.get('code') ?? '' });
  const ended = await send(routeNamed('social-callback'), path, { query: search, headers: { cookie } });
  const { token, rtCode, error } = landingOf(new URL(ended.headers.get('location') ?? ''));
  expect(error).toBeNull();
  secrets.push({ what: 'access token of the callback', value: token, shownBy: ['social-callback'] });
  secrets.push({ what: 'exchange code', value: rtCode, shownBy: ['social-callback'] });
  noteHashed('exchange code', rtCode);
  const exchanged = await send(routeNamed('exchange-refresh-token'), {}, { key, body: { token, rtCode } });
  const { refreshToken } = exchanged.body.data as { refreshToken: string };
  secrets.push({ what: 'exchanged refresh token', value: refreshToken, shownBy: ['exchange-refresh-token'] });
  noteHashed('exchanged refresh token', refreshToken);
};

/** Everything that an end user and the developer can do with his account, once and well; answers the user's id. */
const liveAnAccount = async (projectId: string, key: string, secretKey: string, developer: string): Promise<string> => {
  const [first = '', second = '', third = '', fourth = ''] = passwords;
  const inHeader = { 'x-refresh-token-mode': 'header' };
  const act = (id: string, options: RequestOptions, more: Record<string, string> = {}) =>
    send(routeNamed(id), more, { key, ...options });

  const body = { email: userEmail, password: first, username: sampleParameters.username };
  await signIn('sign-up', { key, body });
  await noteUsers(secretKey);
  await act('verify-email', { body: { token: (await openMail(1)).token } });
  await act('resend-verification-otp', { body: { email: userEmail } });
  await act('request-password-reset', { body: { email: userEmail } });
  await act('request-password-reset', { body: { email: 'nobody@example.com' } });
  await noteStoredSecrets(projectId);
  const { otp } = await openMail(2);
  await act('reset-password', { body: { email: userEmail, otp, newPassword: second } });
  await noteUsers(secretKey);
  await act('log-in', { body: { email: userEmail, password: wrongPassword } });
  const { token, cookie } = await signIn('log-in', {
    key,
    headers: inHeader,
    body: { email: userEmail, password: second },
  });
  const [, refreshToken = ''] = cookie.split('=');
  const refreshed = await signIn('refresh-token', { key, headers: { ...inHeader, 'x-refresh-token': refreshToken } });
  await act('change-password', { token, body: { currentPassword: second, newPassword: third } });
  await noteUsers(secretKey);
  await signInWithGitHub(key);

  const me = await act('get-me', { token });
  const { _id: id } = me.body.data as { _id: string };
  const listed = await act('list-sessions', { token });
  const [session] = listed.body.data as { _id: string }[];
  await act('revoke-session', { token }, { id: session?._id ?? '' });
  await act('log-out', { headers: { cookie: refreshed.cookie } });

  const manage = (route: string, more: Record<string, string> = {}, change?: object) =>
    send(routeNamed(route), { projectId, id, ...more }, { token: developer, ...(change ? { body: change } : {}) });
  await act('log-in', { body: { email: userEmail, password: third } });
  const sessions = await manage('list-user-sessions');
  const { items } = sessions.body.data as { items: { _id: string }[] };
  await manage('revoke-user-session', { sessionId: items[0]?._id ?? '' });
  await manage('update-user', {}, { password: fourth });
  await noteUsers(secretKey);
  await manage('revoke-user-sessions');
  return id;
};

const addUser = async (secretKey: string): Promise<string> => {
  const match = await findProjectByKey(secretKey, '');
  if (!match) throw new Error('The project is gone');
  const _id = new ObjectId();
  await onProject(match.project, (db) =>
    db.collection('users').insertOne({ _id, email: 'user@example.com', password: userPassword, name: 'u' }),
  );
  const { accessToken } = await issueAccessToken(match.project, {
    userId: _id.toHexString(),
    sessionId: '0'.repeat(24),
  });
  secrets.push({ what: 'access token of a user', value: accessToken });
  return accessToken;
};

const garbage: readonly unknown[] = ['{', '[]', 'null', { password, extra: password }, { name: { $ne: password } }];

beforeAll(async () => {
  await startLoggingStack();
  for (const [what, value] of [
    ['password', password],
    ['wrong password', wrongPassword],
    ['client secret', clientSecret],
    ...passwords.map((value) => ['password of a user', value]),
    ["a user's password hash", userPassword],
    ['encryption key', stack.env.ENCRYPTION_KEY],
    ['database URI', stack.env.MONGODB_URI],
    ['table endpoint', stack.env.AWS_ENDPOINT_URL_DYNAMODB],
  ]) {
    secrets.push({ what: what ?? '', value: value ?? '' });
  }
  await signIn('register-developer', { body: { email, password } });
  await setPlan(email, 'pro');
  const first = await signIn('log-in-developer', { body: { email, password } });
  await send(routeNamed('log-in-developer'), {}, { body: { email, password: wrongPassword } });
  const { token, cookie } = await signIn('refresh-developer', { headers: { cookie: first.cookie } });

  const made = await send(routeNamed('create-project'), {}, { token, body: { name: 'secrets' } });
  const {
    _id: projectId,
    secretKey,
    publishableKey,
  } = made.body.data as Record<'_id' | 'secretKey' | 'publishableKey', string>;
  secrets.push({ what: 'secret key', value: secretKey, shownBy: ['create-project'] });
  await noteStoredSecrets(projectId);
  const parameters = { ...sampleParameters, projectId, indexName: 'sample', id: '' };
  for (const body of [{ name: 'notes', schema: null }, users]) {
    await send(routeNamed('create-collection'), parameters, { token, body });
  }
  const socialProviders = { github: { enabled: true, clientId: 'client-of-github', clientSecret } };
  const settings = { authEnabled: true, siteUrl: 'https://app.example.com', socialProviders };
  await send(routeNamed('update-project'), parameters, { token, body: settings });
  const userToken = await addUser(secretKey);
  const endUserId = await liveAnAccount(projectId, publishableKey, secretKey, token);
  const document = await send(routeNamed('create-document'), parameters, {
    key: secretKey,
    body: { text: inDocuments },
  });
  parameters.id = String(document.body._id);

  const rotated = await send(routeNamed('rotate-key'), parameters, { token, body: sampleBodies['rotate-key'] });
  const { key } = rotated.body.data as { key: string };
  secrets.push({ what: 'new secret key', value: key, shownBy: ['rotate-key'] });
  await noteStoredSecrets(projectId);

  /** `{id}` is a user's in the rows below `/users`, else a document's. */
  const parametersFor = ({ route: { path: at } }: RouteCase) =>
    at.includes('/users/') ? { ...parameters, id: endUserId } : parameters;
  const ends = ({ id, method }: RouteCase): boolean => method === 'DELETE' || id.startsWith('log-out');
  // These have been called well already; what they show or store has been noted there.
  const done = new Set([
    'register-developer',
    'create-project',
    'rotate-key',
    'refresh-developer',
    'log-in-developer',
    'update-project',
    'sign-up',
    'log-in',
    'refresh-token',
    'start-social',
    'social-callback',
    'exchange-refresh-token',
  ]);
  const routes = [...publicCases, ...dashboardCases];
  for (const route of routes) {
    const body = route.method === 'GET' ? {} : { body: sampleBodies[route.id] ?? {} };
    for (const wrong of garbage) {
      await send(route, parametersFor(route), {
        ...(route.method === 'GET' ? {} : { body: wrong }),
        headers: { authorization: `Bearer ${token}x`, 'x-api-key': `${secretKey}x`, cookie: `${cookie}x` },
      });
      if (route.method === 'GET' || route.method === 'DELETE' || route.api === 'public') continue;
      await send(route, parametersFor(route), { token, body: wrong });
    }
    if (ends(route) || done.has(route.id)) continue;
    const query = route.id === 'list-documents' ? `?text=${inDocuments}` : '';
    for (const credentials of [{ token, key: secretKey }, { token: userToken, key: publishableKey }, {}]) {
      await send(route, parametersFor(route), { ...credentials, ...body, query });
    }
  }
  await noteStoredSecrets(projectId);
  await noteUsers(secretKey);
  await send(routeNamed('update-collection'), parameters, { token, body: { rls: { enabled: false } } });
  for (const id of [
    'delete-document',
    'recover-document',
    'delete-index',
    'delete-collection',
    'delete-user',
    'log-out-developer',
    'delete-project',
  ]) {
    await send(routeNamed(id), parametersFor(routeNamed(id)), { token, key: secretKey, headers: { cookie } });
  }
}, 60_000);

afterAll(async () => {
  await closeMongo();
  await child.stop();
  await rm(directory, { recursive: true, force: true });
});

test('every route was called and answered well at least once', () => {
  const good = new Set(told.filter(({ text }) => /^\[(2|302)/.test(text)).map(({ route }) => route));
  expect([...publicCases, ...dashboardCases].map(({ id }) => id).filter((id) => !good.has(id))).toEqual([]);
});

describe('no answer holds', () => {
  test('any secret, but the one that shows it', () => {
    expect(secrets.length).toBeGreaterThan(15);
    for (const { what, value, shownBy = [] } of secrets) {
      expect(value.length, what).toBeGreaterThanOrEqual(9);
      const holders = told.filter(({ text }) => text.includes(value)).map(({ route }) => route);
      expect(holders, what).toEqual(shownBy);
    }
  });

  test('anything that looks like one', () => {
    for (const { route, text } of told) {
      expect(text, route).not.toMatch(
        /\$2[aby]\$\d\d\$|-----BEGIN|"d":"|passwordHash|encryptedPrivateKey|sealedClientSecret|clientSecret":"|credentialVersion|mongodb(\+srv)?:\/\//,
      );
      if (route !== 'create-project' && route !== 'rotate-key') expect(text, route).not.toMatch(/sk_live_[0-9A-Za-z]/);
    }
  });

  test('where the code runs, or what it is made of', () => {
    for (const { route, text } of told) {
      expect(text, route).not.toMatch(/node_modules|\.ts:\d|at async|MongoServerError|\/shared\/|dynamodb/i);
    }
  });

  test('a refresh token, except in its own cookie', () => {
    for (const { what, value } of secrets.filter((secret) => secret.what.startsWith('refresh token of'))) {
      const holders = told.filter(({ cookies }) => cookies.includes(value)).map(({ route }) => route);
      expect(holders, what).toEqual(what.endsWith('hashed') ? [] : [what.split(' ').at(-1)]);
    }
  });
});

describe('no line of the log holds', () => {
  test('any secret, or any body', () => {
    const log = lines.join('\n');
    expect(lines.length).toBeGreaterThan(told.length);
    for (const { what, value } of secrets) expect(log.includes(value), what).toBe(false);
    for (const value of [
      inDocuments,
      'sample-password',
      'sample@example.com',
      userEmail,
      'user@example.com',
      email,
      'pk_live_',
      'sk_live_',
      'Bearer',
    ]) {
      expect(log.includes(value), value).toBe(false);
    }
  });

  test('anything but one object of JSON; one a request says what the contract wants', () => {
    const requests = lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ route }) => route);
    expect(requests).toHaveLength(told.length);
    for (const request of requests) {
      const { level, route, project, status, ms, databaseMs, requestId, ...more } = request;
      expect({ level, route, status, ms, databaseMs, requestId }).toEqual({
        level: 'info',
        route: expect.any(String) as string,
        status: expect.any(Number) as number,
        ms: expect.any(Number) as number,
        databaseMs: expect.any(Number) as number,
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      });
      if (project !== undefined) expect(project).toMatch(/^[0-9a-f]{24}$/);
      expect(more).toEqual({});
    }
  });

  test('a failure of ours', () => {
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});

describe('an address of the database with credentials', () => {
  test.each([
    ['a port that is none', 'mongodb://admin:PASSWORD@127.0.0.1:port/'],
    ['an option that is none', 'mongodb://admin:PASSWORD@127.0.0.1:1/?nonsense=PASSWORD'],
    ['a bad escape', 'mongodb://admin:PASSWORD%@127.0.0.1:1/'],
    ['another scheme', 'postgres://admin:PASSWORD@127.0.0.1:1/'],
    ['no scheme', 'admin:PASSWORD@127.0.0.1'],
    ['a mechanism that is none', 'mongodb://admin:PASSWORD@127.0.0.1:1/?authMechanism=NONE'],
    ['an SRV record with a port', 'mongodb+srv://admin:PASSWORD@db.example.com:27017/'],
  ])('is not in the log or the answer, with %s', async (_what, uri) => {
    const hidden = 'xQ7secretPassword9';
    const before = process.env.MONGODB_URI ?? '';
    const written: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
    process.env.MONGODB_URI = uri.replaceAll('PASSWORD', hidden);
    process.env.LOG = 'debug';
    vi.resetModules();
    try {
      const { handler } = await import('../../functions/data/list-documents.ts');
      const { invoke } = await import('../support/invoke.ts');
      const answer = await invoke(handler, {
        key: `sk_live_${'a'.repeat(32)}`,
        params: { collectionName: 'notes' },
      });
      expect(answer.status).toBeGreaterThanOrEqual(500);
      expect(JSON.stringify(answer.body)).not.toContain(hidden);
    } finally {
      write.mockRestore();
      process.env.MONGODB_URI = before;
      process.env.LOG = 'silent';
    }
    expect(written.join('')).toContain('"level":"error"');
    expect(written.join('')).not.toContain(hidden);
  });
});
