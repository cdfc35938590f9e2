import { ObjectId } from 'mongodb';
import { describe, expect, inject, test } from 'vitest';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { shownCode } from '../../support/clients/authenticator.ts';
import { call, inParallel, tally } from '../../support/clients/client.ts';
import {
  asProject,
  editUser,
  exchange,
  newSocialProject,
  refresh,
  type SocialProjectOptions,
  signInWith,
} from '../../support/clients/social.ts';
import { passkeySettings, passkeysOf } from '../../support/fixtures/passkeys.ts';
import type { TestProject } from '../../support/fixtures/project.ts';
import { ageSession, newUsersProject, type SignIn } from '../../support/fixtures/users.ts';

const inHeader = { 'x-refresh-token-mode': 'header' };

const auth = <Body>(project: TestProject, method: string, path: string, token: string, body?: unknown) =>
  call<Body>(inject('stack').baseUrl, method, `/api/userAuth/${path}`, {
    key: project.publishableKey,
    token,
    ...(body === undefined ? {} : { body }),
  });

interface Security {
  readonly data: Readonly<Record<string, unknown>>;
}
const securityOf = async (project: TestProject, token: string) =>
  (await auth<Security>(project, 'GET', 'security', token)).body.data;

const newProject = (signIn: object = {}, options: SocialProjectOptions = {}) =>
  newSocialProject({ ...options, settings: { signIn } });
const unlink = (project: TestProject, token: string, provider: string) =>
  auth(project, 'DELETE', `social/${encodeURIComponent(provider)}`, token);
const last = { status: 409, body: { code: 'LAST_WAY_TO_SIGN_IN' } };
const github = (id: string) => ({ provider: 'github', id, key: `github:${id}` }) as const;
const onlyPasskeys = { password: false, passkey: true };
const passkey = {
  _id: new ObjectId(),
  id: 'one',
  key: 'key',
  counter: 0,
  isMultiDevice: true,
  name: 'Phone',
  createdAt: new Date(),
  lastUsedAt: null,
};
const locked = { ...passkey, _id: new ObjectId(), id: 'two', locked: true };
const unset = { provider: 'oidc:acme', id: '2', key: 'oidc:https://acme.example#2' } as const;
const spotify = (id: string) => ({ provider: 'spotify', id, key: `spotify:${id}` }) as const;

describe('the list of sessions', () => {
  test('shows only the latest client of each session', async () => {
    const project = await newUsersProject();
    const user = await project.newUser();
    const sessions = async () =>
      (await project.auth<{ data: readonly Record<string, unknown>[] }>('GET', 'sessions', { token: user.token })).body
        .data;
    const [before] = await sessions();
    const refreshed = await project.auth<SignIn>('POST', 'refresh-token', {
      headers: {
        'x-refresh-token': user.refreshToken,
        ...inHeader,
        'user-agent': `Another browser ${'x'.repeat(300)}`,
      },
    });
    expect(refreshed.status).toBe(200);
    const [after, ...others] = await sessions();
    expect(others).toEqual([]);
    expect(after).toMatchObject({ _id: before?._id, createdAt: before?.createdAt, ip: '127.0.0.1', current: true });
    expect(after?.userAgent).toBe(`Another browser ${'x'.repeat(300)}`.slice(0, 256));
    expect(Date.parse(String(after?.lastUsedAt))).toBeGreaterThanOrEqual(Date.parse(String(before?.lastUsedAt)));
  });
});

describe('GET /security', () => {
  test('200 with password, authenticator app and remaining recovery codes, without secrets', async () => {
    const project = await newUsersProject({ settings: { signIn: { secondFactor: 'optional' } } });
    const user = await project.newUser();
    const plain = {
      email: user.email,
      emailVerified: false,
      password: true,
      providers: [],
      passkeys: [],
      secondFactor: null,
    };
    expect(await securityOf(project, user.token)).toEqual(plain);
    const { secret } = (await auth<{ data: { secret: string } }>(project, 'POST', 'second-factor/totp', user.token))
      .body.data;
    expect(await securityOf(project, user.token)).toEqual(plain);
    await auth(project, 'POST', 'second-factor/totp/confirm', user.token, { code: shownCode(secret) });
    expect(await securityOf(project, user.token)).toEqual({ ...plain, secondFactor: { recoveryCodes: 10 } });
    expect((await project.auth('GET', 'security')).status).toBe(401);
  });

  test('200 with the names of the providers, without password and address', async () => {
    const project = await newProject();
    const { token, userId } = await signInWith(project, 'spotify', 'ada@example.com');
    const acme = { provider: 'oidc:acme', id: '1', key: 'oidc:https://acme.example#1' } as const;
    await editUser(project, { _id: new ObjectId(userId) }, { $push: { identities: acme } });
    expect(await securityOf(project, token)).toEqual({
      email: null,
      emailVerified: false,
      password: false,
      providers: [
        { provider: 'spotify', name: 'Spotify' },
        { provider: 'oidc:acme', name: 'acme' },
      ],
      passkeys: [],
      secondFactor: null,
    });
  });

  test('200 with the passkeys like GET /passkeys, without keys', async () => {
    const project = await newUsersProject({ settings: passkeySettings });
    const user = await project.newUser();
    const passkeys = passkeysOf(project);
    const used = await passkeys.add(user.token);
    await passkeys.add(user.token);
    expect((await passkeys.signIn(used)).status).toBe(200);
    const listed = await passkeys.list(user.token);
    expect(listed).toMatchObject([{ lastUsedAt: expect.any(String) }, { lastUsedAt: null }]);
    expect((await securityOf(project, user.token)).passkeys).toEqual(listed);
  });
});

describe('unlinking a provider', () => {
  test('200, and its next sign-in is a new account; other sessions end', async () => {
    const project = await newProject();
    const first = await signInWith(project, 'spotify', 'ada@example.com');
    const other = await exchange(project, { token: first.token, rtCode: first.rtCode });
    const { token, userId } = await signInWith(project, 'spotify', 'ada@example.com');
    expect(userId).toBe(first.userId);
    await editUser(project, { _id: new ObjectId(userId) }, { $push: { identities: github('7') } });
    expect(await unlink(project, token, 'spotify')).toMatchObject({ status: 200, body: { success: true } });
    expect(await securityOf(project, token)).toMatchObject({ providers: [{ provider: 'github', name: 'GitHub' }] });
    expect((await refresh(project, other.body.data?.refreshToken ?? '')).status).toBe(401);
    expect((await signInWith(project, 'spotify', 'ada@example.com')).userId).not.toBe(userId);
  });

  test('404 for a provider that is not linked or unknown', async () => {
    const project = await newProject();
    const { token } = await signInWith(project, 'spotify', 'ada@example.com');
    for (const provider of ['github', 'oidc:acme', '__proto__', '$ne']) {
      expect(await unlink(project, token, provider)).toMatchObject({
        status: 404,
        body: { code: 'PROVIDER_NOT_LINKED' },
      });
    }
  });

  test.each<[string, object, object, number]>([
    ['409 where nothing else is there', {}, {}, 409],
    ['409 with an address that was never verified', {}, { email: 'x@example.com', emailVerified: false }, 409],
    [
      '200 with a verified address, to which a reset can be sent',
      {},
      { email: 'x@example.com', emailVerified: true },
      200,
    ],
    [
      '409 with one to which nothing is sent',
      { password: false },
      { email: 'x@example.com', emailVerified: true },
      409,
    ],
    [
      '200 with one to which codes are sent',
      { password: false, emailCode: true },
      { email: 'x@example.com', emailVerified: true },
      200,
    ],
    ['200 with a password', {}, { email: 'x@example.com', hasPassword: true, password: 'hash' }, 200],
    ['409 with a password and no address that it signs in with', {}, { hasPassword: true, password: 'hash' }, 409],
    ['409 with a password that signs in nobody', { password: false }, { hasPassword: true, password: 'hash' }, 409],
    ['200 with another provider', { password: false }, { identities: [spotify('1'), github('2')] }, 200],
    ['409 with another provider that is not enabled', { password: false }, { identities: [spotify('1'), unset] }, 409],
    [
      '409 with another account of the same one',
      { password: false },
      { identities: [spotify('1'), spotify('2')] },
      409,
    ],
    ['200 with a passkey', onlyPasskeys, { _signIn: { passkeys: [passkey] } }, 200],
    ['409 with a locked one', onlyPasskeys, { _signIn: { passkeys: [locked] } }, 409],
    ['200 with a locked one beside another', onlyPasskeys, { _signIn: { passkeys: [locked, passkey] } }, 200],
    ['409 where passkeys are off', { password: false }, { _signIn: { passkeys: [passkey] } }, 409],
  ])('%s', async (_title, signIn, set, status) => {
    const project = await newProject(signIn);
    const { token, userId } = await signInWith(project, 'spotify', 'ada@example.com');
    await editUser(project, { _id: new ObjectId(userId) }, { $set: set });
    const answer = await unlink(project, token, 'spotify');
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    if (status === 409) expect(answer).toMatchObject(last);
  });

  test('403 REAUTHENTICATION_REQUIRED ten minutes after the sign-in', async () => {
    const project = await newProject();
    const { token, userId } = await signInWith(project, 'spotify', 'ada@example.com');
    await editUser(project, { _id: new ObjectId(userId) }, { $push: { identities: github('7') } });
    await ageSession(projectScope((await asProject(project)).id), token, 11);
    expect(await unlink(project, token, 'spotify')).toMatchObject({
      status: 403,
      body: { code: 'REAUTHENTICATION_REQUIRED' },
    });
  });

  test('leaves one of two providers for 50 concurrent requests', async () => {
    const project = await newProject({ password: false });
    const { token, userId } = await signInWith(project, 'spotify', 'ada@example.com');
    await editUser(project, { _id: new ObjectId(userId) }, { $push: { identities: github('7') } });
    const answers = await inParallel(50, (index) => unlink(project, token, index % 2 === 0 ? 'spotify' : 'github'));
    const { 200: done, ...others } = tally(answers);
    expect(done).toBe(1);
    for (const status of Object.keys(others)) expect(['404', '409']).toContain(status);
    expect((await securityOf(project, token)).providers).toHaveLength(1);
  });

  test('404 for all except one of 50 concurrent requests when another method remains', async () => {
    const project = await newProject();
    const { token, userId } = await signInWith(project, 'spotify', 'ada@example.com');
    await editUser(project, { _id: new ObjectId(userId) }, { $push: { identities: github('7') } });
    const answers = await inParallel(50, () => unlink(project, token, 'spotify'));
    expect(tally(answers)).toEqual({ 200: 1, 404: 49 });
  });
});
