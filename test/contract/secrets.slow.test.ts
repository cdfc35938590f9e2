import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { developerAccounts, setPlan } from '../../shared/accounts/developers/developers.ts';
import { markVerified } from '../../shared/accounts/email-proofs.ts';
import {
  dashboardCases,
  publicCases,
  type RouteCase,
  sampleBodies,
  sampleParameters,
  takesAnything,
} from '../support/data/route-cases.ts';
import { colleagueEmail, workTogether } from '../support/fixtures/secrets-walk/developers.ts';
import { keepADatabase, keepDocuments, trashADocument } from '../support/fixtures/secrets-walk/documents.ts';
import { keepAStorage, keepFiles } from '../support/fixtures/secrets-walk/files.ts';
import { keepAudiences, keepMails, takeEvents, webhookSecret } from '../support/fixtures/secrets-walk/mails.ts';
import { askTheAssistant, tellOthers } from '../support/fixtures/secrets-walk/others.ts';
import {
  addUser,
  liveAnAccount,
  noteKeys,
  noteUsers,
  password,
  signInOtherwise,
  userEmail,
  userPassword,
  wrongPassword,
} from '../support/fixtures/secrets-walk/users.ts';
import {
  email,
  inDocuments,
  lines,
  noteStoredSecrets,
  passwords,
  requestsUntold,
  routeNamed,
  secrets,
  send,
  signIn,
  stack,
  startLoggingStack,
  stopLoggingStack,
  told,
} from '../support/fixtures/secrets-walk/witness.ts';
import { users } from '../support/fixtures/users.ts';

/*
 * Calls every route of its own stack with valid and invalid requests, then searches all responses and log lines for
 * data that must not leave the service.
 */

const clientSecret = 'client-secret-of-github-0123456789';
const providerApiKey = 're_key_of_the_provider_0123456789';

const garbage: readonly unknown[] = ['{', '[]', 'null', { password, extra: password }, { name: { $ne: password } }];

beforeAll(async () => {
  await startLoggingStack();
  for (const [what, value] of [
    ['password', password],
    ['wrong password', wrongPassword],
    ['client secret', clientSecret],
    ['key of the mail provider', providerApiKey],
    ['secret of the webhook', webhookSecret],
    ...passwords.map((value) => ['password of a user', value]),
    ["a user's password hash", userPassword],
    ['encryption key', stack.env.ENCRYPTION_KEY],
    ['database URI', stack.env.MONGODB_URI],
    ['table endpoint', stack.env.AWS_ENDPOINT_URL_DYNAMODB],
  ]) {
    secrets.push({ what: what ?? '', value: value ?? '' });
  }
  noteKeys();
  await signIn('sign-up-developer', { body: { email, password } });
  await setPlan(email, 'pro');
  await markVerified(developerAccounts, { email });
  const first = await signIn('sign-in-developer', { body: { email, password } });
  await send(routeNamed('sign-in-developer'), {}, { body: { email, password: wrongPassword } });
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
  const settings = {
    authEnabled: true,
    siteUrl: 'https://app.example.com',
    signIn: { emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' },
    socialProviders,
    providerApiKey,
    providerWebhookSecret: webhookSecret,
  };
  await send(routeNamed('update-project'), parameters, { token, body: settings });
  const userToken = await addUser(secretKey);
  const endUserId = await liveAnAccount(projectId, publishableKey, secretKey, token);
  await signInOtherwise(publishableKey);
  await tellOthers(parameters, token, secretKey);
  // Runs before another database is connected, because the data API can take 5 s to switch back.
  await trashADocument(parameters, secretKey);
  await keepFiles(parameters, secretKey, token);
  await keepAStorage(parameters, token, secretKey);
  await keepADatabase(parameters, token, secretKey);
  await keepAudiences(projectId, secretKey, token);
  await takeEvents(projectId);
  await keepMails(parameters, secretKey, token);
  await askTheAssistant(parameters, token);
  await keepDocuments(parameters, token);
  await workTogether(projectId, token);
  const document = await send(routeNamed('create-document'), parameters, {
    key: secretKey,
    body: { text: inDocuments },
  });
  parameters.id = String(document.body._id);

  const rotated = await send(routeNamed('rotate-key'), parameters, { token, body: sampleBodies['rotate-key'] });
  const { key } = rotated.body.data as { key: string };
  secrets.push({ what: 'new secret key', value: key, shownBy: ['rotate-key'] });
  await noteStoredSecrets(projectId);

  /** `{id}` is a user id below `/users`, otherwise a document id. */
  const parametersFor = ({ route: { path: at } }: RouteCase) =>
    at.includes('/users/') ? { ...parameters, id: endUserId } : parameters;
  const ends = ({ id, method }: RouteCase): boolean => method === 'DELETE' || id.startsWith('sign-out');
  // These routes were already called with valid requests above, and their secrets were recorded there.
  const done = new Set([
    'sign-up-developer',
    'create-project',
    'rotate-key',
    'refresh-developer',
    'sign-in-developer',
    'update-project',
    'exchange-developer-code',
    'sign-in-developer-by-code',
    'start-developer-totp',
    'confirm-developer-totp',
    'sign-in-developer-with-factor',
    'sign-in-developer-with-passkey',
    'sign-up',
    'sign-in',
    'refresh-token',
    'start-sign-in',
    'begin-sign-in',
    'finish-sign-in',
    'exchange-code',
    'sign-in-by-code',
    'sign-up-anonymously',
    'start-totp',
    'confirm-totp',
    'sign-in-with-factor',
    'sign-in-with-passkey',
    'create-webhook',
    'rotate-webhook-secret',
    'create-ticket',
  ]);
  const routes = [...publicCases, ...dashboardCases];
  for (const route of routes) {
    const body = route.method === 'GET' ? {} : { body: sampleBodies[route.id] ?? {} };
    for (const wrong of garbage) {
      await send(route, parametersFor(route), {
        ...(route.method === 'GET' ? {} : { body: wrong }),
        headers: { authorization: `Bearer ${token}x`, 'x-api-key': `${secretKey}x`, cookie: `${cookie}x` },
      });
      if (route.method === 'GET' || route.method === 'DELETE' || route.api === 'public' || takesAnything(route))
        continue;
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
  await send(routeNamed('update-collection'), parameters, { token, body: { rls: { enabled: false }, changes: true } });
  await send(routeNamed('list-changes'), parameters, { key: secretKey, query: '?since=0' });
  await send(routeNamed('list-project-changes'), parameters, { token, query: '?since=0' });
  for (const id of ['delete-index', 'delete-collection', 'delete-user', 'delete-project', 'sign-out-developer']) {
    await send(routeNamed(id), parametersFor(routeNamed(id)), { token, key: secretKey, headers: { cookie } });
  }
}, 600_000);

afterAll(stopLoggingStack);

test('every route was called and returned success at least once', () => {
  const good = new Set(told.filter(({ text }) => /^\[(2|30[23])/.test(text)).map(({ route }) => route));
  const missing = [...publicCases, ...dashboardCases].map(({ id }) => id).filter((id) => !good.has(id));
  expect(missing).toEqual([]);
});

/** The API descriptions contain examples that look like secrets, and the names of AWS services. */
const descriptions: ReadonlySet<string> = new Set(['get-openapi', 'get-dashboard-openapi']);
const healths: ReadonlySet<string> = new Set(['get-health', 'get-dashboard-health']);

describe('no response contains', () => {
  test('any secret, except the response that shows it', () => {
    expect(secrets.length).toBeGreaterThan(15);
    for (const { what, value, shownBy = [] } of secrets) {
      expect(value.length, what).toBeGreaterThanOrEqual(9);
      const holders = told.filter(({ text }) => text.includes(value)).map(({ route }) => route);
      expect(holders, what).toEqual(shownBy);
    }
  });

  test('text that looks like a secret', () => {
    for (const { route, text } of told.filter((answer) => !descriptions.has(answer.route))) {
      expect(text, route).not.toMatch(
        /\$2[aby]\$\d\d\$|-----BEGIN|"d":"|passwordHash|encryptedPrivateKey|sealedClientSecret|clientSecret":"|credentialVersion|mongodb(\+srv)?:\/\//,
      );
      if (route !== 'create-project' && route !== 'rotate-key') expect(text, route).not.toMatch(/sk_live_[0-9A-Za-z]/);
    }
  });

  test('file paths, stack traces or names of internal parts', () => {
    for (const { route, text } of told) {
      expect(text, route).not.toMatch(/node_modules|\.ts:\d|at async|MongoServerError|\/shared\//i);
      if (!descriptions.has(route) && !healths.has(route)) expect(text, route).not.toMatch(/dynamodb/i);
    }
  });

  test('a refresh token, except in its own cookie', () => {
    for (const { what, value } of secrets.filter((secret) => secret.what.startsWith('refresh token of'))) {
      // A repeated sign-up returns the token of the first one.
      const holders = new Set(told.filter(({ cookies }) => cookies.includes(value)).map(({ route }) => route));
      expect([...holders], what).toEqual(what.endsWith('hashed') ? [] : [what.split(' ').at(-1)]);
    }
  });
});

describe('no log line contains', () => {
  test('a secret or a request body', () => {
    const log = lines.join('\n');
    expect(lines.length).toBeGreaterThan(told.length);
    for (const { what, value } of secrets) expect(log.includes(value), what).toBe(false);
    for (const value of [
      inDocuments,
      'sample-password',
      'sample@example.com',
      userEmail,
      colleagueEmail,
      'user@example.com',
      email,
      'pk_live_',
      'sk_live_',
      'Bearer',
    ]) {
      expect(log.includes(value), value).toBe(false);
    }
  });

  test('anything except one JSON object, with the documented fields for a request', () => {
    // The number of events from the mail provider varies.
    const byTheProvider = 'receive-webhook';
    const requests = lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ route }) => route);
    expect(requests.filter(({ route }) => route !== byTheProvider)).toHaveLength(
      told.filter(({ route }) => route !== byTheProvider).length + requestsUntold,
    );
    for (const request of requests) {
      const { level, route, project, status, code, ms, databaseMs, requestId, ...more } = request;
      expect({ level, route, status, ms, databaseMs, requestId }).toEqual({
        level: 'info',
        route: expect.any(String) as string,
        status: expect.any(Number) as number,
        ms: expect.any(Number) as number,
        databaseMs: expect.any(Number) as number,
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      });
      if (project !== undefined) expect(project).toMatch(/^[0-9a-f]{24}$/);
      if (code !== undefined) expect([code, Number(status) >= 400]).toEqual([expect.stringMatching(/^[A-Z_]+$/), true]);
      expect(more).toEqual({});
    }
  });

  test('an internal error', () => {
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
