import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, inject, test } from 'vitest';
import { blockingVersion, raiseCredentialVersion } from '../../../shared/accounts/credentials.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { call } from '../../support/clients/client.ts';
import {
  asProject,
  editUser,
  exchange,
  newSocialProject,
  refresh,
  signInWith,
  storedUsers,
  users,
} from '../../support/clients/social.ts';
import { newDeveloper, type TestProject } from '../../support/fixtures/project.ts';

const email = 'ada@example.com';
const password = 'the first password';

interface SignedUp {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly userId: string;
}

const post = <Body>(project: TestProject, path: string, body: unknown, token?: string) =>
  call<Body>(inject('stack').baseUrl, 'POST', `/api/userAuth/${path}`, {
    key: project.publishableKey,
    headers: { 'x-refresh-token-mode': 'header' },
    body,
    ...(token === undefined ? {} : { token }),
  });

const signUp = async (project: TestProject): Promise<SignedUp> => {
  const answer = await post<SignedUp>(project, 'signup', { email, password });
  if (answer.status !== 201) throw new Error(`sign-up answered ${JSON.stringify(answer.body)}`);
  return answer.body;
};

const logIn = async (project: TestProject) => (await post(project, 'login', { email, password })).status;

describe('a person who signed up first with another person’s address', () => {
  test('is locked out when its owner signs in: password and sessions end', async () => {
    const project = await newSocialProject();
    const attacker = await signUp(project);
    const owner = await signInWith(project, 'google', email);
    expect(owner).toMatchObject({ error: null, isNewUser: 'false', linkedByEmail: 'true', userId: attacker.userId });

    expect(await logIn(project)).toBe(401);
    expect(await refresh(project, attacker.refreshToken)).toMatchObject({ status: 401 });
    const change = await call(inject('stack').baseUrl, 'PUT', '/api/userAuth/change-password', {
      key: project.publishableKey,
      token: attacker.accessToken,
      body: { newPassword: 'the second password' },
    });
    expect(change.status).toBe(401);

    const exchanged = await exchange(project, { token: owner.token, rtCode: owner.rtCode });
    expect(await refresh(project, exchanged.body.data?.refreshToken ?? '')).toMatchObject({ status: 200 });
    expect(await storedUsers(project)).toMatchObject([
      { emailVerified: true, hasPassword: false, identities: [{ provider: 'google' }] },
    ]);
  });

  test('keeps nothing obtained while the owner signs in', async () => {
    const project = await newSocialProject();
    const attacker = await signUp(project);
    const [owner, ...tries] = await Promise.all([
      signInWith(project, 'github', 'ada'),
      ...Array.from({ length: 4 }, () => post<SignedUp>(project, 'login', { email, password })),
    ]);
    expect(owner.error).toBeNull();
    for (const { body } of tries) {
      if (body.refreshToken) expect(await refresh(project, body.refreshToken)).toMatchObject({ status: 401 });
    }
    expect(await refresh(project, attacker.refreshToken)).toMatchObject({ status: 401 });
    expect(await logIn(project)).toBe(401);
  });

  test('keeps no linked identity', async () => {
    const project = await newSocialProject();
    await signUp(project);
    const foreign = { provider: 'github', id: '999', key: 'github:999' } as const;
    await editUser(project, { email }, { $set: { identities: [foreign] } });
    expect(await signInWith(project, 'google', email)).toMatchObject({ error: null, linkedByEmail: 'true' });
    const [user] = await storedUsers(project);
    expect(user?.identities?.map(({ provider }) => provider)).toEqual(['google']);
  });
});

describe('a user who verified the address', () => {
  test('keeps password and sessions when they also sign in with a provider', async () => {
    const project = await newSocialProject();
    const before = await signUp(project);
    await editUser(project, { email }, { $set: { emailVerified: true } });
    const landing = await signInWith(project, 'github', 'ada');
    expect(landing).toMatchObject({ error: null, isNewUser: 'false', linkedByEmail: 'true', userId: before.userId });
    expect(await logIn(project)).toBe(200);
    expect(await refresh(project, before.refreshToken)).toMatchObject({ status: 200 });
    expect(await signInWith(project, 'github', 'ada')).toMatchObject({ linkedByEmail: 'false', userId: before.userId });
  });

  test('is known by the identity when the address has changed', async () => {
    const project = await newSocialProject();
    const { userId } = await signInWith(project, 'google', email);
    await editUser(project, { email }, { $set: { email: 'lovelace@example.com', emailVerified: false } });
    const again = await signInWith(project, 'google', email);
    expect(again).toMatchObject({ error: null, userId, isNewUser: 'false', linkedByEmail: 'false' });
  });
});

describe('a sign-in that fails', () => {
  const noAccount = async (project: TestProject) => expect(await storedUsers(project)).toEqual([]);

  test('ends with an error when the provider has not verified the address', async () => {
    const project = await newSocialProject();
    const message = /^Google has not verified your email address/;
    expect((await signInWith(project, 'google', 'unverified@example.com')).error).toMatch(message);
    await noAccount(project);

    const body = { email: 'unverified@example.com', password };
    expect((await post(project, 'signup', body)).status).toBe(201);
    await editUser(project, { email: body.email }, { $set: { emailVerified: true } });
    const landing = await signInWith(project, 'google', 'unverified@example.com');
    expect(landing).toMatchObject({ error: expect.stringMatching(message), token: '', rtCode: '', userId: '' });
    const [user] = await storedUsers(project);
    expect(user?.identities).toBeUndefined();
  });

  test('ends with an error when sign-ups are closed and the account would be new', async () => {
    const project = await newSocialProject({ settings: { allowPublicSignup: false } });
    expect((await signInWith(project, 'github', 'octocat')).error).toMatch(/does not accept/);
    await noAccount(project);
    await onProject(await asProject(project), (db) => db.collection('users').insertOne({ email, emailVerified: true }));
    expect(await signInWith(project, 'github', 'ada')).toMatchObject({ error: null, linkedByEmail: 'true' });
  });

  test('ends with an error for a disabled user, known by identity or by address', async () => {
    const project = await newSocialProject();
    await signInWith(project, 'github', 'ada');
    await editUser(project, { email }, { $set: { isDisabled: true } });
    for (const [provider, who] of [
      ['github', 'ada'],
      ['google', email],
    ] as const) {
      expect(await signInWith(project, provider, who)).toMatchObject({ error: 'This account is disabled.', token: '' });
    }
  });

  test('ends with an error when the user was disabled or changed during the sign-in', async () => {
    const project = await newSocialProject();
    const { userId } = await signInWith(project, 'github', 'ada');
    await raiseCredentialVersion(projectScope(project.id), userId, blockingVersion);
    expect(await signInWith(project, 'github', 'ada')).toMatchObject({
      error: 'Your account was changed at the same time. Sign in again.',
      token: '',
    });
  });

  test('succeeds when a concurrent call ends sessions, as long as the provider stays linked', async () => {
    const project = await newSocialProject();
    const { userId } = await signInWith(project, 'github', 'ada');
    await raiseCredentialVersion(projectScope(project.id), userId, 1);
    const [landing] = await Promise.all([
      signInWith(project, 'github', 'ada'),
      pause(50).then(() => editUser(project, { email }, { $set: { credentialVersion: 1 } })),
    ]);
    expect(landing).toMatchObject({ error: null, userId });
  });

  test('ends with an error over the plan’s users, exactly at the limit', async () => {
    const project = await newSocialProject({ owner: await newDeveloper('free') });
    const filled = Array.from({ length: 199 }, (_, planSlot) => ({ email: `a${planSlot}@example.com`, planSlot }));
    await onProject(await asProject(project), (db) => db.collection('users').insertMany(filled));
    const landings = await Promise.all([
      signInWith(project, 'github', 'ada'),
      signInWith(project, 'github', 'octocat'),
      signInWith(project, 'google', 'grace@example.com'),
    ]);
    const errors = landings.flatMap(({ error }) => error ?? []);
    expect(errors).toEqual(Array(2).fill(expect.stringMatching(/^The free plan allows 200 users/)));
    expect(await storedUsers(project)).toHaveLength(200);
  });

  test('ends with an error naming the field when the schema requires more than the provider returns', async () => {
    const required = { key: 'colour', type: 'String', required: true };
    const project = await newSocialProject({ collection: { ...users, schema: [...(users.schema ?? []), required] } });
    expect((await signInWith(project, 'github', 'ada')).error).toBe(
      'This app requires more than GitHub provides: colour is required. Sign up with an email address and a password instead.',
    );
    await noAccount(project);
  });
});
