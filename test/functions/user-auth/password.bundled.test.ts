import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { discardCredentials } from '../../../shared/accounts/credentials.ts';
import { userAccounts } from '../../../shared/accounts/users/users.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { auth, logIn } from '../../support/fixtures/developers.ts';
import { changeStoredUsers, domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import { newCredentials, newUsersProject, type SignIn, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

const newPassword = 'another password';
const change = (token: string, body: unknown) => project.auth('PUT', 'change-password', { token, body });
const inHeader = { 'x-refresh-token-mode': 'header' };
const wrong = { status: 401, body: { code: 'INVALID_CREDENTIALS' } };

describe('a password with letters that have two spellings', () => {
  const spellings = ['NFC', 'NFD'] as const;
  const password = (form: (typeof spellings)[number]) => 'Zürich über alles'.normalize(form);
  const another = (form: (typeof spellings)[number]) => 'Ein Hütchen für Åsa'.normalize(form);

  /** How users and developers set and prove a password. */
  const sides = {
    users: {
      signUp: (body: object) => project.signUp(body),
      logIn: (body: object) => project.logIn(body),
      change: async (email: string, given: string, body: object) =>
        change((await project.logIn({ email, password: given })).body.token, body),
    },
    developers: {
      signUp: (body: object) => auth('POST', 'register', { body }),
      logIn: (body: object) => auth('POST', 'login', { body }),
      change: async (email: string, given: string, body: object) => {
        const { data } = (await logIn(email, given)).body;
        return auth('PUT', 'change-password', { token: data.accessToken, body });
      },
    },
  };
  const cases = Object.entries(sides).flatMap(([whose, side]) => spellings.map((set) => ({ whose, side, set })));

  test.each(cases)('200 in either spelling when $whose set it in $set', async ({ side, set }) => {
    const { email } = newCredentials();
    expect(await side.signUp({ email, password: password(set) })).toMatchObject({ status: 201 });
    const other = set === 'NFC' ? 'NFD' : 'NFC';
    for (const form of spellings) {
      expect(await side.logIn({ email, password: password(form) })).toMatchObject({ status: 200 });
    }
    const body = { currentPassword: password(other), newPassword: another(set) };
    expect(await side.change(email, password(set), body)).toMatchObject({ status: 200 });
    for (const form of spellings) {
      expect(await side.logIn({ email, password: another(form) })).toMatchObject({ status: 200 });
    }
  });
});

describe('change-password', () => {
  test('200 without data; all other sessions end', async () => {
    const user = await project.newUser();
    const elsewhere = await project.logIn(user, inHeader);
    const answer = await change(user.token, { currentPassword: user.password, newPassword });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, message: 'Password changed' });
    expect(await project.refresh(elsewhere.body.refreshToken)).toMatchObject({ status: 401 });
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 200 });
    expect(await project.logIn(user)).toMatchObject(wrong);
    expect(await project.logIn({ email: user.email, password: newPassword })).toMatchObject({ status: 200 });
  });

  test.each<[string, object, string]>([
    ['another current password', { currentPassword: 'not the password' }, 'The current password is incorrect.'],
    ['no current password', {}, 'Send the current password.'],
    ['an empty current password', { currentPassword: '' }, 'The current password is incorrect.'],
  ])('401 with %s; nothing changes', async (_name, body, message) => {
    const user = await project.newUser();
    const refused = { status: 401, body: { code: 'INVALID_CREDENTIALS', message } };
    expect(await change(user.token, { ...body, newPassword })).toMatchObject(refused);
    expect(await project.logIn(user)).toMatchObject({ status: 200 });
  });

  test.each([
    ['1234567', 'must be 8 to 72 bytes long'],
    ['é'.repeat(37), 'must be 8 to 72 bytes long'],
    ['12345678\0', 'must not contain a NUL character'],
  ])('400 for the new password %j', async (tooBad, message) => {
    const user = await project.newUser();
    const answer = await change(user.token, { currentPassword: user.password, newPassword: tooBad });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', message: `Validation failed: newPassword ${message}` },
    });
  });

  test('401 TOKEN_INVALID with the token of a revoked session', async () => {
    const user = await project.newUser();
    await project.auth('POST', 'logout', { headers: { 'x-refresh-token': user.refreshToken } });
    const answer = await change(user.token, { currentPassword: user.password, newPassword });
    expect(answer).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
    expect(await project.logIn(user)).toMatchObject({ status: 200 });
  });

  test('401 for at most five of 50 concurrent guesses with a stolen token, then 429', async () => {
    const user = await project.newUser();
    const guesses = await inParallel(50, (n) =>
      change(user.token, { currentPassword: `wrong guess ${n}`, newPassword }),
    );
    expect(tally(guesses)).toEqual({ 401: 5, 429: 45 });
  });

  test('200 for exactly one of several concurrent changes, whose password is valid', async () => {
    const user = await project.newUser();
    const answers = await inParallel(5, (n) =>
      change(user.token, { currentPassword: user.password, newPassword: `new password ${n}` }),
    );
    expect(tally(answers)).toMatchObject({ 200: 1 });
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(await project.logIn({ email: user.email, password: `new password ${winner}` })).toMatchObject({
      status: 200,
    });
  });

  test('200 without a current password for accounts without one, and 401 the next time', async () => {
    const user = await project.newUser();
    await changeStoredUsers(project, { email: user.email }, { hasPassword: false });
    expect(await change(user.token, { newPassword })).toMatchObject({ status: 200 });
    expect(await change(user.token, { newPassword })).toMatchObject(wrong);
    expect(await change(user.token, { currentPassword: newPassword, newPassword: user.password })).toMatchObject({
      status: 200,
    });
  });
});

describe('discarded credentials', () => {
  const discard = async (userId: string) =>
    discardCredentials(userAccounts(await domainProject(project)), new ObjectId(userId));

  test('401 for the password and all sessions; a new password needs no current one', async () => {
    const user = await project.newUser();
    await discard(user.userId);
    expect(await project.logIn(user)).toMatchObject(wrong);
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 401 });
    expect(await storedUsers(project, { email: user.email })).toMatchObject([{ hasPassword: false }]);
    expect(await change(user.token, { newPassword })).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });

  test('200 for both when the address was verified meanwhile', async () => {
    const user = await project.newUser();
    await changeStoredUsers(project, { email: user.email }, { emailVerified: true });
    expect(await discard(user.userId)).toBeUndefined();
    expect(await project.logIn(user)).toMatchObject({ status: 200 });
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 200 });
  });
});

interface Sessions {
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

describe('sessions', () => {
  const list = (token: string) => project.auth<Sessions>('GET', 'sessions', { token });
  const revoke = (token: string, id: string) => project.auth('DELETE', `sessions/${id}`, { token });

  test('200 with one entry per session, the latest used first, and the caller’s own marked', async () => {
    const user = await project.newUser();
    const headers = { ...inHeader, 'user-agent': 'Browser/1.0' };
    const second = await project.logIn(user, headers);
    await project.refresh(second.body.refreshToken);
    const answer = await list(user.token);
    expect(answer.status).toBe(200);
    const [first, last] = answer.body.data;
    expect(first).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      createdAt: expect.stringMatching(/Z$/),
      lastUsedAt: expect.stringMatching(/Z$/),
      userAgent: 'node',
      ip: '127.0.0.1',
      current: false,
    });
    expect(last?.current).toBe(true);
    expect((await list(second.body.token)).body.data.map(({ current }) => current)).toEqual([true, false]);
    expect(JSON.stringify(answer.body)).not.toMatch(/[\w-]{40}/);
  });

  test('200 when one is revoked, which cannot refresh from then on; 404 the next time', async () => {
    const user = await project.newUser();
    const other = (await project.logIn(user, inHeader)).body as SignIn;
    const [newest] = (await list(user.token)).body.data;
    const id = String(newest?._id);
    expect(await revoke(user.token, id)).toMatchObject({
      status: 200,
      body: { success: true, data: { _id: id }, message: 'Session revoked' },
    });
    expect(await project.refresh(other.refreshToken)).toMatchObject({ status: 401 });
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 200 });
    expect(await revoke(user.token, id)).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
    expect((await list(user.token)).body.data).toHaveLength(1);
  });

  test('404 for another user’s session, which stays open, and for a malformed id', async () => {
    const user = await project.newUser();
    const stranger = await project.newUser();
    const [theirs] = (await list(stranger.token)).body.data;
    for (const id of [String(theirs?._id), 'f'.repeat(24), 'x', '$ne', '%00', `${user.userId}#x`]) {
      expect(await revoke(user.token, encodeURIComponent(id))).toMatchObject({ status: 404 });
    }
    expect(await project.refresh(stranger.refreshToken)).toMatchObject({ status: 200 });
  });

  test('401 TOKEN_INVALID with an ended session; the others stay open', async () => {
    const user = await project.newUser();
    const [own] = (await list(user.token)).body.data;
    const other = (await project.logIn(user, inHeader)).body as SignIn;
    const kept = (await list(other.token)).body.data.find(({ current }) => current);
    await project.auth('POST', 'logout', { headers: { 'x-refresh-token': user.refreshToken } });
    const ended = { status: 401, body: { code: 'TOKEN_INVALID', message: expect.stringContaining('has ended') } };
    expect(await revoke(user.token, String(kept?._id))).toMatchObject(ended);
    expect(await revoke(user.token, String(own?._id))).toMatchObject(ended);
    expect(await list(user.token)).toMatchObject(ended);
    expect((await list(other.token)).body.data).toHaveLength(1);
    expect(await project.refresh(other.refreshToken)).toMatchObject({ status: 200 });
  });

  test('200 for exactly one of 50 concurrent requests when two sessions end each other', async () => {
    const user = await project.newUser();
    const other = (await project.logIn(user, inHeader)).body as SignIn;
    const [second, first] = (await list(user.token)).body.data.map(({ _id }) => String(_id));
    const answers = await inParallel(50, (n) =>
      n % 2 === 0 ? revoke(user.token, second ?? '') : revoke(other.token, first ?? ''),
    );
    expect(tally(answers)[200]).toBe(1);
    const alive = await Promise.all([user.refreshToken, other.refreshToken].map(project.refresh));
    expect(tally(alive)).toEqual({ 200: 1, 401: 1 });
  });

  test('401 without a token', async () => {
    expect(await project.auth('GET', 'sessions')).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
    expect(await project.auth('DELETE', 'sessions/x')).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
  });
});
