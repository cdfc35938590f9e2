import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, inject, test, vi } from 'vitest';
import type { SocialProfile } from '../../../shared/accounts/social/providers.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { Browser, target } from '../../support/clients/browser.ts';
import { cookieOf, inParallel, tally } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { consent } from '../../support/clients/social.ts';
import {
  auth,
  type DashboardSignIn,
  guardDeveloper,
  linkDeveloper,
  logIn,
  refresh,
  storedDeveloper,
} from '../../support/fixtures/developers.ts';
import { idOf, newPersonalToken } from '../../support/fixtures/members.ts';
import { newDeveloper, newUnverified } from '../../support/fixtures/project.ts';
import { claimsOf } from '../../support/fixtures/users.ts';

const dashboard = (): string => inject('stack').dashboardUrl;
const callbackPage = (): string => `${dashboard()}/auth/callback`;
const start = (): string => `${dashboard()}/api/auth/github/start`;

/** The emulated GitHub has two accounts; each test begins without linked developers. */
beforeEach(() =>
  onControl((db) =>
    db.collection('developers').deleteMany({ email: { $in: ['octocat@example.com', 'ada@example.com'] } }),
  ),
);

const landingOf = (url: URL) => ({
  page: url.origin + url.pathname,
  error: url.searchParams.get('error'),
  rtCode: url.searchParams.get('rtCode') ?? '',
  token: new URLSearchParams(url.hash.slice(1)).get('token') ?? '',
  isNewDeveloper: url.searchParams.get('isNewDeveloper'),
  linkedByEmail: url.searchParams.get('linkedByEmail'),
});

const signInAs = async (who: string) => {
  const browser = new Browser();
  const callback = await consent(browser, start(), who);
  return landingOf(target(await browser.open(callback.href)));
};

const exchange = (body: object) => auth<DashboardSignIn>('POST', 'github/exchange', { body });

describe('signing in with GitHub', () => {
  test('302 to GitHub, with PKCE and a state bound to this browser', async () => {
    const page = await new Browser().open(start());
    expect(Object.fromEntries(target(page).searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'local',
      redirect_uri: `${dashboard()}/api/auth/github/callback`,
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^developers\.[\w-]{43}$/),
    });
    expect(page.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^social_[0-9a-f]{16}=[\w-]{43}; HttpOnly; Path=\/api\/auth\/github; Max-Age=600; SameSite=Lax$/,
      ),
    ]);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('302 to the dashboard for a new developer; the code returns tokens and the cookie', async () => {
    const landing = await signInAs('octocat');
    expect(landing).toMatchObject({
      page: callbackPage(),
      error: null,
      isNewDeveloper: 'true',
      linkedByEmail: 'false',
    });
    const answer = await exchange({ token: landing.token, rtCode: landing.rtCode });
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { expiresIn: '15m', developer: { email: 'octocat@example.com', emailVerified: true } } },
    });
    expect(answer.cookies).toEqual([
      expect.stringMatching(
        /^dashboard_refresh=[\w-]{83}; HttpOnly; Path=\/api\/auth; Max-Age=604800; SameSite=Strict$/,
      ),
    ]);
    expect((await refresh(cookieOf(answer))).status).toBe(200);
    const { _id } = answer.body.data.developer;
    expect(await storedDeveloper(_id)).toMatchObject({ hasPassword: false, identities: [{ provider: 'github' }] });
    expect(await signInAs('octocat')).toMatchObject({ error: null, isNewDeveloper: 'false', linkedByEmail: 'false' });
  });

  test('200 for exactly one of 50 concurrent exchanges of the code, 400 for the others', async () => {
    const { token, rtCode } = await signInAs('octocat');
    expect(tally(await inParallel(50, () => exchange({ token, rtCode })))).toEqual({ 200: 1, 400: 49 });
  });

  test('400 INVALID_EXCHANGE_CODE without the access token that it was issued with', async () => {
    const [mine, theirs] = [await signInAs('octocat'), await signInAs('ada')];
    const refused = { status: 400, body: { code: 'INVALID_EXCHANGE_CODE' }, cookies: [] };
    expect(await exchange({ token: theirs.token, rtCode: mine.rtCode })).toMatchObject(refused);
    expect(await exchange({ token: mine.token, rtCode: 'A'.repeat(43) })).toMatchObject(refused);
    expect((await exchange({ token: mine.token, rtCode: mine.rtCode })).status).toBe(200);
  });

  test('302 with only a ticket when the developer has an authenticator app; a recovery code completes it', async () => {
    const { token, rtCode } = await signInAs('ada');
    const { accessToken } = (await exchange({ token, rtCode })).body.data;
    const { recoveryCodes } = await guardDeveloper(accessToken);
    const browser = new Browser();
    const callback = await consent(browser, start(), 'ada');
    const landing = target(await browser.open(callback.href));
    expect([...landing.searchParams.keys()]).toEqual(['provider']);
    const fragment = new URLSearchParams(landing.hash.slice(1));
    expect([...fragment.keys()]).toEqual(['ticket']);
    const body = { ticket: fragment.get('ticket'), recoveryCode: recoveryCodes[0] };
    const answer = await auth<DashboardSignIn>('POST', 'second-factor/verify', { body });
    expect(claimsOf(answer.body.data.accessToken).amr).toEqual(['github', 'recovery', 'mfa']);
  });

  test('302 for the developer with the same verified address: the account is linked, and one email says so', async () => {
    const { email } = await newDeveloper('pro', { email: 'octocat@example.com' });
    const told = () => mailLogs.countDocuments({ to: email, templateUsed: 'account-change' });
    const before = await told();
    expect(await signInAs('octocat')).toMatchObject({ error: null, linkedByEmail: 'true' });
    expect(await told()).toBe(before + 1);
    expect(await signInAs('octocat')).toMatchObject({ error: null, linkedByEmail: 'false' });
    expect(await told()).toBe(before + 1);
  });

  test('10 concurrent sign-ins create one account', async () => {
    const landings = await inParallel(10, () => signInAs('ada'));
    expect(landings.map(({ error }) => error)).toEqual(Array(10).fill(null));
    expect(landings.filter(({ isNewDeveloper }) => isNewDeveloper === 'true')).toHaveLength(1);
  });
});

describe('302 only to the dashboard, with an error', () => {
  const outdated = expect.stringMatching(/^This sign-in has expired, was already used, or began in another browser/);

  test('for a used state', async () => {
    const browser = new Browser();
    const callback = await consent(browser, start(), 'octocat');
    await browser.open(callback.href);
    expect(landingOf(target(await browser.open(callback.href)))).toMatchObject({
      page: callbackPage(),
      error: outdated,
      token: '',
    });
  });

  test('for a state of another browser', async () => {
    const callback = await consent(new Browser(), start(), 'octocat');
    expect(landingOf(target(await new Browser().open(callback.href)))).toMatchObject({
      page: callbackPage(),
      error: outdated,
    });
  });

  test.each(['', '?state=x&code=y', `?state=developers.${'A'.repeat(43)}&code=y`, '?error=access_denied'])(
    'for a callback with "%s"',
    async (query) => {
      const answer = await new Browser().open(`${dashboard()}/api/auth/github/callback${query}`);
      expect(landingOf(target(answer))).toMatchObject({ page: callbackPage(), error: outdated });
    },
  );

  test('for a denied consent', async () => {
    const browser = new Browser();
    const callback = await consent(browser, start(), 'octocat');
    callback.searchParams.delete('code');
    callback.searchParams.set('error', 'access_denied');
    expect(landingOf(target(await browser.open(callback.href)))).toMatchObject({
      page: callbackPage(),
      error: 'Signing in with GitHub was cancelled.',
    });
  });
});

describe('a sign-in with a GitHub account', () => {
  const profile = (email: string, verified = true, id = String(Math.floor(Math.random() * 1e12))): SocialProfile => ({
    id,
    name: undefined,
    username: 'someone',
    addresses: [{ email, verified }],
  });

  test('fails when GitHub has not verified the address', async () => {
    const developer = await newDeveloper();
    await expect(linkDeveloper(profile(developer.email, false))).rejects.toMatchObject({
      code: 'SOCIAL_SIGN_IN_FAILED',
    });
    await expect(linkDeveloper({ ...profile(''), addresses: [] })).rejects.toMatchObject({
      code: 'SOCIAL_SIGN_IN_FAILED',
    });
  });

  test('links the developer with the same verified address, whose password and sessions stay', async () => {
    const developer = await newDeveloper();
    const session = cookieOf(await logIn(developer.email, developer.password));
    const { account, linkedByEmail } = await linkDeveloper(profile(developer.email));
    expect({ id: account._id.toHexString(), linkedByEmail }).toEqual({
      id: await idOf(developer),
      linkedByEmail: true,
    });
    expect((await refresh(session)).status).toBe(200);
    expect((await logIn(developer.email, developer.password)).status).toBe(200);
  });

  test('takes over an account with the unverified address, and ends its password, sessions and tokens', async () => {
    const squatter = await newUnverified();
    const session = cookieOf(await logIn(squatter.email, squatter.password));
    const { token } = await newPersonalToken(squatter, ['projects:read']);
    const { account } = await linkDeveloper(profile(squatter.email));
    expect(account).toMatchObject({ emailVerified: true, hasPassword: false });
    expect((await refresh(session)).status).toBe(401);
    expect((await logIn(squatter.email, squatter.password)).status).toBe(401);
    expect((await auth('GET', 'me', { token })).status).toBe(401);
  });

  test('finds the linked developer by the identity when the address has changed', async () => {
    const first = profile(`${randomBytes(8).toString('hex')}@example.com`);
    const { account } = await linkDeveloper(first);
    const other = await newDeveloper();
    const second = await linkDeveloper(profile(other.email, true, first.id));
    expect(second).toMatchObject({ isNew: false, linkedByEmail: false });
    expect(second.account._id).toEqual(account._id);
  });

  test('creates one account when 50 run concurrently', async () => {
    const someone = profile(`${randomBytes(8).toString('hex')}@example.com`);
    const linked = await inParallel(50, () => linkDeveloper(someone));
    expect(new Set(linked.map(({ account }) => account._id.toHexString())).size).toBe(1);
    expect(linked.filter(({ isNew }) => isNew)).toHaveLength(1);
  });
});

test('404 UNKNOWN_PROVIDER when the operator has not configured it', async () => {
  vi.resetModules();
  vi.stubEnv('DASHBOARD_GITHUB_CLIENT_ID', '');
  const { handler } = await import('../../../functions/dashboard/auth/start-developer-sign-in.ts');
  expect(await invoke(handler)).toMatchObject({ status: 404, body: { code: 'UNKNOWN_PROVIDER' } });
  vi.unstubAllEnvs();
});
