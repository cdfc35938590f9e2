import { beforeAll, describe, expect, test } from 'vitest';
import { claimsOf, newCredentials, newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;
let without: UsersProject;

beforeAll(async () => {
  [project, without] = await Promise.all([
    newUsersProject(),
    newUsersProject({ settings: { signIn: { password: false } } }),
  ]);
});

describe('passwords turned off', () => {
  test.each(['signup', 'login', 'request-password-reset', 'reset-password'])(
    '403 SIGN_IN_DISABLED for %s, before the body is checked',
    async (path) => {
      expect(await without.auth('POST', path, { body: {} })).toMatchObject({
        status: 403,
        body: { code: 'SIGN_IN_DISABLED', message: expect.stringContaining('signIn.password') },
      });
    },
  );

  test('403 AUTH_DISABLED when accounts are off', async () => {
    const off = await newUsersProject({ settings: { authEnabled: false, signIn: { password: false } } });
    expect(await off.logIn(newCredentials())).toMatchObject({ status: 403, body: { code: 'AUTH_DISABLED' } });
  });

  test('200 for routes without passwords: refresh, me, sessions', async () => {
    const other = await newUsersProject();
    const user = await other.newUser();
    await other.developer.dashboard('PATCH', `/api/projects/${other.id}`, { signIn: { password: false } });
    const refreshed = await other.refresh(user.refreshToken);
    expect(refreshed.status).toBe(200);
    const options = { token: refreshed.body.accessToken };
    expect((await other.auth('GET', 'me', options)).status).toBe(200);
    expect((await other.auth('GET', 'sessions', options)).status).toBe(200);
  });
});

describe('amr', () => {
  test('200 and 201 with pwd after sign-up, sign-in and every refresh', async () => {
    const user = await project.newUser();
    expect(claimsOf(user.accessToken).amr).toEqual(['pwd']);
    const { body } = await project.logIn(user, { 'x-refresh-token-mode': 'header' });
    expect(claimsOf(body.accessToken).amr).toEqual(['pwd']);
    const first = await project.refresh(body.refreshToken);
    const second = await project.refresh(first.body.refreshToken);
    expect([first, second].map((answer) => claimsOf(answer.body.accessToken).amr)).toEqual([['pwd'], ['pwd']]);
  });
});
