import { Collection, MongoNetworkError } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { deleteAccount } from '../../../shared/accounts/users/manage-users.ts';
import { requireUsers } from '../../../shared/accounts/users/users.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { changeStoredUsers, domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import { ageSession, claimsOf, newUsersProject, type SignIn, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { anonymous: true } } });
  await project.addCollection({ name: 'posts', rls: { enabled: true, ownerField: 'author' } });
});

afterEach(() => {
  vi.restoreAllMocks();
});

type User = Awaited<ReturnType<UsersProject['newUser']>>;

const remove = (token: string, body: object = {}) => project.auth('DELETE', 'account', { token, body });
const isStored = async ({ email }: User): Promise<boolean> => (await storedUsers(project, { email })).length > 0;
const wrong = { status: 401, body: { code: 'INVALID_CREDENTIALS' } };
const gone = { status: 401, body: { code: 'TOKEN_INVALID' } };
const reauthentication = { status: 403, body: { code: 'REAUTHENTICATION_REQUIRED' } };

const withoutPassword = async (minutes: number): Promise<User> => {
  const user = await project.newUser();
  await changeStoredUsers(project, { email: user.email }, { hasPassword: false });
  await ageSession(projectScope(project.id), user.token, minutes);
  return user;
};

describe('deleting the own account', () => {
  test('200: all sessions end, the cookie is removed, the address is free, and documents stay', async () => {
    const user = await project.newUser();
    const elsewhere = await project.logIn(user, { 'x-refresh-token-mode': 'header' });
    const { token, userId, email, password } = user;
    expect(
      (await project.api('POST', '/api/data/posts', { key: project.publishableKey, token, body: {} })).status,
    ).toBe(201);
    const answer = await remove(token, { password });
    expect(answer).toMatchObject({
      status: 200,
      body: { success: true, data: { _id: userId }, message: 'Account deleted' },
      cookies: [expect.stringMatching(/^refresh_[0-9a-f]{24}=;.*Max-Age=0/)],
    });
    expect(await isStored(user)).toBe(false);
    for (const refreshToken of [user.refreshToken, elsewhere.body.refreshToken])
      expect((await project.refresh(refreshToken)).status).toBe(401);
    expect(await project.auth('GET', 'me', { token })).toMatchObject(gone);
    expect(await project.logIn(user)).toMatchObject(wrong);
    const posts = await project.api<{ data: { total: number } }>('GET', `/api/data/posts?author=${userId}`);
    expect(posts.body.data.total).toBe(1);
    expect((await project.signUp({ email, password })).status).toBe(201);
  });

  test('200 for one of 50 concurrent requests; no other reports a wrong password', async () => {
    const user = await project.newUser();
    const answers = await inParallel(50, () => remove(user.token, { password: user.password }));
    const { 200: done, 401: late = 0, 429: locked = 0 } = tally(answers);
    expect([done, late + locked]).toEqual([1, 49]);
    for (const answer of answers.filter(({ status }) => status === 401)) expect(answer).toMatchObject(gone);
  });

  test.each([
    ['a wrong one', { password: 'not the password' }, 'The current password is incorrect.'],
    ['an empty one', { password: '' }, 'The current password is incorrect.'],
    ['none', {}, 'Send the current password.'],
  ])('401 INVALID_CREDENTIALS with %s as password; the account stays', async (_name, body, message) => {
    const user = await project.newUser();
    expect(await remove(user.token, body)).toMatchObject({ ...wrong, body: { ...wrong.body, message } });
    expect((await project.refresh(user.refreshToken)).status).toBe(200);
  });

  test('401 for at most five of 50 concurrent guesses with a stolen token, then 429 ACCOUNT_LOCKED', async () => {
    const user = await project.newUser();
    const guesses = await inParallel(50, (n) => remove(user.token, { password: `wrong guess ${n}` }));
    expect(tally(guesses)).toEqual({ 401: 5, 429: 45 });
    expect(guesses.find(({ status }) => status === 429)).toMatchObject({ body: { code: 'ACCOUNT_LOCKED' } });
    expect(await isStored(user)).toBe(true);
  });

  test('401 TOKEN_INVALID with an ended session', async () => {
    const user = await project.newUser();
    await project.auth('POST', 'logout', { headers: { 'x-refresh-token': user.refreshToken } });
    expect(await remove(user.token, { password: user.password })).toMatchObject(gone);
    expect(await isStored(user)).toBe(true);
  });

  test('200 without a password soon after the sign-in, 403 REAUTHENTICATION_REQUIRED later', async () => {
    const late = await withoutPassword(11);
    expect(await remove(late.token)).toMatchObject(reauthentication);
    expect(await isStored(late)).toBe(true);
    expect((await remove((await withoutPassword(9)).token)).status).toBe(200);
  });

  test('403 REAUTHENTICATION_REQUIRED with a second factor, also with the right password', async () => {
    const user = await project.newUser();
    const totp = { sealed: 'x', lastStep: 0, recovery: [] };
    await changeStoredUsers(project, { email: user.email }, { '_signIn.totp': totp });
    await ageSession(projectScope(project.id), user.token, 11);
    expect(await remove(user.token, { password: user.password })).toMatchObject(reauthentication);
    expect(await isStored(user)).toBe(true);
  });

  test('200 for an anonymous user at any time, because they cannot sign in again', async () => {
    const { accessToken, userId } = (await project.auth<SignIn>('POST', 'anonymous')).body;
    await ageSession(projectScope(project.id), accessToken, 60);
    expect(await remove(accessToken)).toMatchObject({ status: 200, body: { data: { _id: userId } } });
  });
});

test('503 leaves the user disabled when the deletion is interrupted, and the dashboard can repeat it', async () => {
  const user = await project.newUser();
  const domain = await domainProject(project);
  const { sub, sid } = claimsOf(user.token);
  const bearer = { userId: String(sub), sessionId: String(sid) };
  const cut = new MongoNetworkError('connection closed');
  vi.spyOn(Collection.prototype, 'deleteOne').mockRejectedValueOnce(cut);
  const client = { ip: '192.0.2.1', userAgent: 'test' };
  await expect(deleteAccount(domain, await requireUsers(domain), bearer, user.password, client)).rejects.toMatchObject({
    code: 'DATABASE_UNAVAILABLE',
  });
  expect(await project.logIn(user)).toMatchObject(wrong);
  const path = `/api/projects/${project.id}/users/${user.userId}`;
  expect(await project.developer.dashboard('GET', path)).toMatchObject({ body: { data: { disabled: true } } });
  expect((await project.developer.dashboard('DELETE', path)).status).toBe(200);
  expect(await isStored(user)).toBe(false);
});
