import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { accountChanges } from '../../../shared/accounts/account-mail.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { call, inParallel } from '../../support/clients/client.ts';
import { mailAbout } from '../../support/clients/inbox.ts';
import {
  type Begun,
  editUser,
  goOn,
  newSocialProject,
  signInWith,
  site,
  storedUsers,
} from '../../support/clients/social.ts';
import type { TestProject } from '../../support/fixtures/project.ts';
import { ageSession, newCredentials, type SignIn } from '../../support/fixtures/users.ts';

let project: TestProject;

beforeAll(async () => {
  project = await newSocialProject({ settings: { signIn: { anonymous: true } } });
});

const inHeader = { 'x-refresh-token-mode': 'header' };

const auth = <Body = Record<string, unknown>>(method: string, path: string, options: object = {}) =>
  call<Body>(inject('stack').baseUrl, method, `/api/userAuth/${path}`, { key: project.publishableKey, ...options });

const newUser = async () => {
  const credentials = newCredentials();
  const { body } = await auth<SignIn>('POST', 'signup', { body: credentials, headers: inHeader });
  return { ...body, ...credentials };
};

const link = (token: string, options: object = {}, provider = 'gitlab') =>
  auth<Begun>('POST', `social/${provider}/link`, { token, ...options });

const identitiesOf = async (userId: string) =>
  (await storedUsers(project)).find(({ _id }) => _id.toHexString() === userId)?.identities ?? [];

const elsewhere = 'This account at GitLab already signs in to another account here.';

describe('linking a provider while signed in', () => {
  test('200, and it signs in to the account with any address; the owner is notified', async () => {
    project = await newSocialProject();
    const user = await newUser();
    await editUser(project, { _id: new ObjectId(user.userId) }, { $set: { emailVerified: true } });
    const answer = await link(user.accessToken, { headers: { origin: site } });
    expect(answer).toMatchObject({ status: 200, body: { data: { url: expect.stringContaining('state=') } } });
    const landing = await goOn(answer, 'ada@example.com');
    expect(Object.fromEntries(landing.url.searchParams)).toEqual({ provider: 'gitlab', linked: 'true' });
    expect(landing.token).toBe('');
    expect(await signInWith(project, 'gitlab', 'ada@example.com')).toMatchObject({
      userId: user.userId,
      isNewUser: 'false',
      linkedByEmail: 'false',
    });
    expect((await auth('POST', 'login', { body: { email: user.email, password: user.password } })).status).toBe(200);
    const refreshing = { headers: { ...inHeader, 'x-refresh-token': user.refreshToken } };
    expect((await auth('POST', 'refresh-token', refreshing)).status).toBe(200);
    const { text } = await mailAbout(user.email, /has changed$/);
    expect(text).toContain(accountChanges.providerLinked('GitLab'));
    const again = await goOn(await link(user.accessToken), 'ada@example.com');
    expect(again.url.searchParams.get('linked')).toBe('true');
    expect(await identitiesOf(user.userId)).toHaveLength(1);
    expect(await mailLogs.countDocuments({ to: user.email, templateUsed: 'account-change' })).toBe(1);
  });

  test('fails when the identity belongs to another account; neither changes', async () => {
    project = await newSocialProject();
    const owner = await signInWith(project, 'gitlab', 'ada@example.com');
    const user = await newUser();
    const { error, token } = await goOn(await link(user.accessToken), 'ada@example.com');
    expect({ error, token }).toEqual({ error: elsewhere, token: '' });
    expect(await identitiesOf(user.userId)).toEqual([]);
    expect(await identitiesOf(owner.userId)).toHaveLength(1);
  });

  test('200 for one of 50 concurrent users who link the same identity', async () => {
    project = await newSocialProject();
    const users = await inParallel(50, newUser);
    const landings = await inParallel(50, async (n) =>
      goOn(await link(users[n]?.accessToken ?? ''), 'ada@example.com'),
    );
    expect(landings.filter(({ error }) => error === null)).toHaveLength(1);
    expect(new Set(landings.map(({ error }) => error))).toEqual(new Set([null, elsewhere]));
    expect((await storedUsers(project)).filter(({ identities }) => identities !== undefined)).toHaveLength(1);
  });

  test('200 for an anonymous user, who does not get the provider’s address', async () => {
    project = await newSocialProject({ settings: { signIn: { anonymous: true } } });
    const { accessToken: token, userId } = (await auth<SignIn>('POST', 'anonymous')).body;
    expect(await goOn(await link(token), 'ada@example.com')).toMatchObject({ error: null });
    const me = await auth<{ data: object }>('GET', 'me', { token });
    expect(me.body.data).toMatchObject({ _id: userId, emailVerified: false });
    expect(me.body.data).not.toHaveProperty('isAnonymous');
  });

  test('fails in another browser, and for a page elsewhere, which gets no cookie', async () => {
    const user = await newUser();
    const begun = await link(user.accessToken);
    const outdated = { error: expect.stringMatching(/^This sign-in has expired/) };
    expect(await goOn({ ...begun, cookies: [] }, 'ada@example.com')).toMatchObject(outdated);
    const foreign = await link(user.accessToken, { headers: { origin: 'https://evil.example' } });
    expect(foreign.cookies).toEqual([]);
    expect(await identitiesOf(user.userId)).toEqual([]);
  });

  test('fails when the session that began it has ended', async () => {
    project = await newSocialProject();
    const user = await newUser();
    const begun = await link(user.accessToken);
    await auth('POST', 'logout', { headers: { 'x-refresh-token': user.refreshToken } });
    expect(await goOn(begun, 'ada@example.com')).toMatchObject({ error: expect.stringContaining('has ended') });
    const other = await newUser();
    const second = await link(other.accessToken);
    const { token } = (await auth<SignIn>('POST', 'login', { body: other })).body;
    const body = { currentPassword: other.password, newPassword: 'another password' };
    expect((await auth('PUT', 'change-password', { token, body })).status).toBe(200);
    expect(await goOn(second, 'ada@example.com')).toMatchObject({ error: expect.stringContaining('has ended') });
    for (const { userId } of [user, other]) expect(await identitiesOf(userId)).toEqual([]);
  });

  test('403 REAUTHENTICATION_REQUIRED ten minutes after the sign-in, 401 TOKEN_INVALID with an ended session', async () => {
    const user = await newUser();
    await ageSession(projectScope(project.id), user.accessToken, 11);
    expect(await link(user.accessToken)).toMatchObject({ status: 403, body: { code: 'REAUTHENTICATION_REQUIRED' } });
    await auth('POST', 'logout', { headers: { 'x-refresh-token': user.refreshToken } });
    expect(await link(user.accessToken)).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });

  test('404 UNKNOWN_PROVIDER, 400 when it is not enabled or there is no site', async () => {
    const user = await newUser();
    expect(await link(user.accessToken, {}, 'myspace')).toMatchObject({
      status: 404,
      body: { code: 'UNKNOWN_PROVIDER' },
    });
    project = await newSocialProject({ settings: { socialProviders: { gitlab: { enabled: false } } } });
    const refused = { status: 400, body: { code: 'SOCIAL_SIGN_IN_FAILED' } };
    expect(await link((await newUser()).accessToken)).toMatchObject(refused);
    project = await newSocialProject({ settings: { siteUrl: null } });
    const nowhere = { status: 400, body: { code: 'SITE_URL_REQUIRED' } };
    expect(await link((await newUser()).accessToken)).toMatchObject(nowhere);
  });
});
