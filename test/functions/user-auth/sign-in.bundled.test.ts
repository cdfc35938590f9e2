import { setTimeout as pause } from 'node:timers/promises';
import { hashSync } from '@node-rs/bcrypt';
import { beforeAll, describe, expect, test } from 'vitest';
import { findByEmail } from '../../../shared/accounts/account-store.ts';
import { openSession, signIn } from '../../../shared/accounts/sign-in.ts';
import { userSignIns } from '../../../shared/accounts/users/users.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { changeStoredUsers, changesOf, domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import { newCredentials, newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

const invalidCredentials = {
  status: 401,
  body: { success: false, code: 'INVALID_CREDENTIALS', message: 'Invalid email or password' },
  cookies: [],
};

const users = (id: string): string => `/api/projects/${project.id}/users/${id}`;

describe('a lockout', () => {
  const headersOf = (n: number): Readonly<Record<string, string>> => {
    const ip = `198.51.100.${n}`;
    return { 'x-forwarded-for': ip, forwarded: `for=${ip}`, 'x-real-ip': ip, 'true-client-ip': ip };
  };

  test('429 ACCOUNT_LOCKED at the sixth wrong password with any address in the headers', async () => {
    const { email, password } = await project.newUser();
    for (let n = 0; n < 5; n++) {
      expect(await project.logIn({ email, password: 'wrong password' }, headersOf(n))).toMatchObject({ status: 401 });
    }
    const locked = { status: 429, body: { code: 'ACCOUNT_LOCKED' } };
    expect(await project.logIn({ email, password: 'wrong password' }, headersOf(5))).toMatchObject(locked);
    expect(await project.logIn({ email, password }, headersOf(6))).toMatchObject(locked);
  });

  test('200 for a session list with the address that the gateway sees', async () => {
    const user = await project.newUser();
    const { body } = await project.logIn(user, headersOf(1));
    const list = await project.auth<{ data: { ip: string }[] }>('GET', 'sessions', { token: body.token });
    expect(list.body.data.map(({ ip }) => ip)).toEqual(['127.0.0.1', '127.0.0.1']);
  });
});

describe('sign-in', () => {
  test('200 with the body of a sign-up', async () => {
    const { email, password, user, userId } = await project.newUser({ name: 'Ann' });
    const answer = await project.logIn({ email: ` ${email.toUpperCase()}`, password });
    expect(answer.status).toBe(200);
    const { accessToken, token, ...rest } = answer.body;
    expect(rest).toEqual({ success: true, message: 'Signed in', expiresIn: '15m', userId, user });
    expect(token).toBe(accessToken);
    expect(answer.cookies).toEqual([
      expect.stringMatching(new RegExp(`^refresh_${project.id}=[\\w-]{79}; HttpOnly; `)),
    ]);
    expect(await project.auth('GET', 'me', { token })).toMatchObject({ status: 200, body: { data: user } });
  });

  test('200 with the refresh token in the body when the client asks for it', async () => {
    const answer = await project.logIn(await project.newUser(), { 'x-refresh-token-mode': 'header' });
    expect(await project.refresh(answer.body.refreshToken)).toMatchObject({ status: 200 });
  });

  test('200 after four wrong passwords, which are cleared then', async () => {
    const { email, password } = await project.newUser();
    for (let round = 0; round < 2; round++) {
      for (let wrong = 0; wrong < 4; wrong++) {
        expect(await project.logIn({ email, password: 'not the password' })).toMatchObject(invalidCredentials);
      }
      expect(await project.logIn({ email, password })).toMatchObject({ status: 200 });
    }
  });

  test('401 as for a wrong password for every other error', async () => {
    const { email } = await project.newUser();
    const wrong = await project.logIn({ email, password: 'not the password' });
    expect(wrong).toMatchObject(invalidCredentials);
    const others = [
      newCredentials(),
      { email: 'plain', password: 'not the password' },
      { email: '', password: 'not the password' },
      { ...newCredentials(), password: '' },
      { email, password: '' },
      { email, password: 'x'.repeat(1000) },
      { email, password: 'nul\0nul\0nul' },
    ];
    for (const credentials of others) {
      const answer = await project.logIn(credentials);
      expect(answer).toMatchObject({ status: wrong.status, cookies: [] });
      expect({ ...answer.body, requestId: '' }).toEqual({ ...wrong.body, requestId: '' });
    }
  });

  test('401 with the credentials of another project', async () => {
    const other = await newUsersProject({ owner: project.developer });
    expect(await other.logIn(await project.newUser())).toMatchObject(invalidCredentials);
  });

  test('401 for at most five of 50 concurrent wrong passwords, 429 for the others and then for the right one', async () => {
    const { email, password } = await project.newUser();
    const wrong = await inParallel(50, (index) => project.logIn({ email, password: `wrong guess ${index}` }));
    expect(tally(wrong)).toEqual({ 401: 5, 429: 45 });
    const locked = await project.logIn({ email, password });
    expect(locked).toMatchObject({ status: 429, body: { code: 'ACCOUNT_LOCKED' }, cookies: [] });
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(600);
    expect(Number(locked.headers.get('retry-after'))).toBeLessThanOrEqual(900);
  });

  test('429 for an unknown address as for a known one', async () => {
    const { email } = newCredentials();
    const wrong = await inParallel(10, () => project.logIn({ email, password: 'not the password' }));
    expect(tally(wrong)).toEqual({ 401: 5, 429: 5 });
  });

  test('200 for the same address of another project while it is locked here', async () => {
    const other = await newUsersProject({ owner: project.developer });
    const { email, password } = await project.newUser();
    await other.signUp({ email, password });
    await inParallel(6, () => project.logIn({ email, password: 'not the password' }));
    expect(await project.logIn({ email, password })).toMatchObject({ status: 429 });
    expect(await other.logIn({ email, password })).toMatchObject({ status: 200 });
  });

  test('200 and the password is rehashed when the cost setting has changed', async () => {
    const { email, password } = await project.newUser();
    await changeStoredUsers(project, { email }, { password: hashSync(password, { cost: 6 }) });
    const before = await changesOf(project, { email });
    expect(await project.logIn({ email, password })).toMatchObject({ status: 200 });
    expect(await changesOf(project, { email })).toEqual(before);
    expect((await storedUsers(project, { email }))[0]?.password).toMatch(/^\$2b\$04\$/);
    expect(await project.logIn({ email, password })).toMatchObject({ status: 200 });
  });

  test('200 for an imported user without service fields', async () => {
    const { email, password } = await project.newUser();
    const [record] = await storedUsers(project, { email });
    await onProject(await domainProject(project), (db) =>
      db.collection('users').replaceOne({ email }, { email, password: record?.password }),
    );
    const answer = await project.logIn({ email, password });
    expect(answer).toMatchObject({ status: 200, body: { user: { email, emailVerified: false } } });
    const change = { currentPassword: password, newPassword: 'another password' };
    const changed = await project.auth('PUT', 'change-password', { token: answer.body.token, body: change });
    expect(changed).toMatchObject({ status: 200 });
    expect(await project.logIn({ email, password: 'another password' })).toMatchObject({ status: 200 });
  });
});

describe('a disabled user', () => {
  test('401 at sign-in as for a wrong password, 401 at refresh and me, and 200 once enabled again', async () => {
    const user = await project.newUser();
    await project.developer.dashboard('PATCH', users(user.userId), { disabled: true });
    expect(await project.logIn(user)).toMatchObject(invalidCredentials);
    const refreshed = await project.refresh(user.refreshToken);
    expect(refreshed).toMatchObject({ status: 401, body: { code: 'REFRESH_TOKEN_INVALID' } });
    const me = await project.auth('GET', 'me', { token: user.token });
    expect(me).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
    await project.developer.dashboard('PATCH', users(user.userId), { disabled: false });
    expect(await project.logIn(user)).toMatchObject({ status: 200 });
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 401 });
  });
});

describe('a sign-in in progress', () => {
  const client = { ip: '192.0.2.9', userAgent: 'test' };

  test.each<[string, (userId: string, token: string, password: string) => Promise<unknown>]>([
    [
      'the password is changed by the user',
      (_userId, token, currentPassword) =>
        project.auth('PUT', 'change-password', { token, body: { currentPassword, newPassword: 'another password' } }),
    ],
    [
      'the password is set by the developer',
      (userId) => project.developer.dashboard('PATCH', users(userId), { password: 'another password' }),
    ],
    ['the user is disabled', (userId) => project.developer.dashboard('PATCH', users(userId), { disabled: true })],
    ['the user is deleted', (userId) => project.developer.dashboard('DELETE', users(userId))],
  ])('401 and opens no session when meanwhile %s', async (_what, act) => {
    const user = await project.newUser();
    const store = userSignIns(await domainProject(project));
    const read = await findByEmail(store, user.email);
    if (!read) throw new Error('There is no such user');
    expect(await act(user.userId, user.token, user.password)).toMatchObject({ status: 200 });
    await expect(openSession(store, read, client, ['pwd'])).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
  });

  test('never leaves a session that outlives the change, with 50 concurrent ones', async () => {
    const user = await project.newUser();
    const store = userSignIns(await domainProject(project));
    // Different clients, because the sixth concurrent attempt of one client is rejected.
    const logInFrom = (ip: string) =>
      signIn(store, user, { ...client, ip }).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'INVALID_CREDENTIALS' });
        return undefined;
      });
    const first = logInFrom('192.0.2.0');
    const others = inParallel(49, (index) => pause(3 * index).then(() => logInFrom(`192.0.2.${index + 1}`)));
    const body = { currentPassword: user.password, newPassword: 'another password' };
    const change = first.then(() => project.auth('PUT', 'change-password', { token: user.token, body }));
    const opened = [await first, ...(await others)];
    expect(await change).toMatchObject({ status: 200 });
    const sessions = opened.flatMap((signIn) => signIn?.session ?? []);
    expect(sessions).not.toEqual([]);
    for (const { refreshToken } of sessions) expect(await project.refresh(refreshToken)).toMatchObject({ status: 401 });
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 200 });
  });
});
