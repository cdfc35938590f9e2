import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { finishSignIn } from '../../../shared/accounts/social/finish-sign-in.ts';
import { startState } from '../../../shared/accounts/social/start-sign-in.ts';
import { userReturn } from '../../../shared/accounts/users/social-site.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { type Landing, landingOf, newSocialProject, storedUsers } from '../../support/clients/social.ts';
import type { HttpFault, Reply } from '../../support/faults/fault.ts';
import { hastenLimits } from '../../support/faults/hasten-limits.ts';
import { HttpProxy, type HttpRequest } from '../../support/faults/http-proxy.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

const json = (body: unknown, status = 200): Reply => ({ status, body });
const raw = (body: string): Reply => ({ body });

/** Endless: 64 KiB at a time. */
const endless: Reply = { body: ' ', endless: 'fast' };
/** Endless, one byte at a time. */
const drip: Reply = { endless: 'slow' };
const elsewhere: Reply = { status: 307, headers: { location: '/elsewhere' } };

const user = { id: 7, login: 'seven', name: 'Seven' };
const emails = [{ email: 'seven@example.com', primary: true, verified: true }];

/** Faults of the token endpoint, named by the code. */
const tokenFaults: Readonly<Record<string, HttpFault>> = {
  'a cut connection': 'cut',
  'status 500': json({ access_token: 'good' }, 500),
  'status 401': json({ error: 'invalid_grant' }, 401),
  'a redirect': elsewhere,
  'a web page': raw('<!doctype html><title>Sign in</title>'),
  'half of its JSON': raw('{"access_token":"go'),
  nothing: raw(''),
  null: json(null),
  'an array': json(['good']),
  'no token': json({ token_type: 'bearer' }),
  'a token that is a number': json({ access_token: 1 }),
  'a token that is an object': json({ access_token: { $ne: null } }),
  'an empty token': json({ access_token: '' }),
  'a token with a line break': json({ access_token: 'good\r\nx-admin: 1' }),
  'a token of 5000 characters': json({ access_token: 'a'.repeat(5000) }),
  'more than is read': json({ access_token: 'good', padding: 'a'.repeat(262_144) }),
  'an endless answer': endless,
};

/** Faults of the profile, named by the token. */
const profileFaults: Readonly<Record<string, readonly [atUser: HttpFault, atEmails: HttpFault]>> = {
  'a cut connection': [json(user), 'cut'],
  'status 401': [json({ message: 'Bad credentials' }, 401), json(emails)],
  'status 403 for addresses': [json(user), json({ message: 'Forbidden' }, 403)],
  'a rate limit for addresses': [json(user), json({ message: 'API rate limit exceeded for user ID 7.' }, 403)],
  'a redirect': [elsewhere, json(emails)],
  'a web page': [raw('<!doctype html>'), json(emails)],
  'an id that is text': [json({ ...user, id: '7' }), json(emails)],
  'no id': [json({ login: 'seven' }), json(emails)],
  'addresses that are none': [json(user), json({ email: 'seven@example.com' })],
  'verified as text': [json(user), json([{ ...emails[0], verified: 'true' }])],
  'deep nesting': [raw(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), json(emails)],
  'an endless answer': [json(user), endless],
};

/** GitHub's response when an app may not read addresses. */
const withoutPermission: Readonly<Record<string, readonly [atUser: HttpFault, atEmails: HttpFault]>> = {
  'no permission': [json(user), json({ message: 'Resource not accessible by integration' }, 403)],
  'no scope': [json(user), json({ message: 'Not Found' }, 404)],
};

const slowProfile = ['hang', drip] as const;

const answer = ({ path, headers, body }: HttpRequest): HttpFault => {
  if (path === '/elsewhere') return json({ ...user, access_token: 'good' });
  if (path === '/login/oauth/access_token') {
    const code = new URLSearchParams(String(body)).get('code') ?? '';
    const wrongCredentials = json({ error: 'incorrect_client_credentials' });
    const faults: Readonly<Record<string, HttpFault>> = { hang: 'hang', drip, 'wrong credentials': wrongCredentials };
    return (
      { ...faults, ...tokenFaults }[code] ?? json({ access_token: code.replaceAll(' ', '_'), token_type: 'bearer' })
    );
  }
  const token = headers.authorization?.slice('Bearer '.length).replaceAll('_', ' ').replace('profile with ', '') ?? '';
  const faults = { 'slow profile': slowProfile, ...withoutPermission, ...profileFaults };
  const [atUser, atEmails] = faults[token as keyof typeof faults] ?? [json(user), json(emails)];
  return path === '/user' ? atUser : atEmails;
};

let server: HttpProxy;
let project: TestProject;
beforeAll(async () => {
  server = await HttpProxy.start();
  server.meet(answer);
  Object.assign(process.env, {
    GITHUB_TOKEN_URL: `${server.url}/login/oauth/access_token`,
    GITHUB_USER_URL: `${server.url}/user`,
    GITHUB_EMAILS_URL: `${server.url}/user/emails`,
  });
  project = await newSocialProject();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => server.close());

const signIn = async (code: string): Promise<Landing> => {
  const verifier = 'v'.repeat(43);
  const state = await startState(projectScope(project.id), 'github', verifier);
  const client = { ip: '192.0.2.1', userAgent: 'test' };
  const ends = await userReturn(state, 'github');
  const { location } = await finishSignIn(ends, ends.provider, { state, code, verifier }, client);
  return landingOf(new URL(location));
};

const nobody = async (): Promise<void> => {
  expect(server.asked.filter(({ path }) => path === '/elsewhere')).toEqual([]);
  expect(await storedUsers(project)).toEqual([]);
};

describe('a sign-in ends with an error and without a session', () => {
  test.each(Object.keys(tokenFaults))('when the token response is %s', async (fault) => {
    const landing = await signIn(fault);
    expect(landing).toMatchObject({
      error: expect.stringMatching(/^GitHub did not .* Retry\.$/),
      token: '',
    });
    await nobody();
  });

  test('when the provider does not know the client, with a message', async () => {
    expect((await signIn('wrong credentials')).error).toMatch(/^GitHub does not accept the client id or secret/);
    await nobody();
  });

  test.each(Object.keys(withoutPermission))(
    'when GitHub returns no addresses because of %s, with a message',
    async (fault) => {
      expect(await signIn(`profile with ${fault}`)).toMatchObject({
        error: expect.stringMatching(/has to grant the GitHub App the account permission "Email addresses: read"\.$/),
        token: '',
      });
      await nobody();
    },
  );

  test.each(Object.keys(profileFaults))('when the profile response is %s', async (fault) => {
    expect(await signIn(`profile with ${fault}`)).toMatchObject({
      error: 'GitHub did not return your identity. Retry.',
      token: '',
    });
    await nobody();
  });

  test('when the provider does not respond for 5 s', async () => {
    const limits = hastenLimits();
    const landings = await Promise.all([signIn('hang'), signIn('drip'), signIn('slow profile')]);
    for (const { error, token } of landings) expect([error, token]).toEqual([expect.stringMatching(/^GitHub did/), '']);
    expect(new Set(limits)).toEqual(new Set([5000]));
    await nobody();
  });
});

test('a sign-in through the same provider succeeds once it responds correctly', async () => {
  expect(await signIn('good')).toMatchObject({ error: null, isNewUser: 'true' });
});
