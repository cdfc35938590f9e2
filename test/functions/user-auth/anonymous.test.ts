import { beforeAll, describe, expect, test } from 'vitest';
import { inParallel, tally } from '../../support/clients/client.ts';
import { codeIn, mailTo, tokenIn } from '../../support/clients/inbox.ts';
import { type CollectionInput, newDeveloper } from '../../support/fixtures/project.ts';
import { changeStoredUsers, storedUsers } from '../../support/fixtures/stored-users.ts';
import {
  claimsOf,
  newCredentials,
  newUsersProject,
  type SignIn,
  type UsersProject,
  users,
} from '../../support/fixtures/users.ts';

const settings = { signIn: { anonymous: true, emailCode: true } };
const inHeader = { 'x-refresh-token-mode': 'header' };
const notAnonymous = { status: 409, body: { code: 'NOT_ANONYMOUS' } };

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings });
});

const enter = async (of = project) => {
  const answer = await of.auth<SignIn>('POST', 'anonymous', { headers: inHeader });
  if (answer.status !== 201) throw new Error(`anonymous answered ${JSON.stringify(answer.body)}`);
  return { ...answer.body, refreshToken: answer.body.refreshToken ?? '' };
};
const upgrade = (token: string, body: object, of = project) =>
  of.auth<SignIn>('POST', 'anonymous/upgrade', { token, body });
const verify = (body: object) => project.auth<SignIn>('POST', 'code/verify', { body });
const me = (token: string) => project.auth('GET', 'me', { token });

describe('an anonymous user', () => {
  test('201 signed in without an address, and refreshes like other users', async () => {
    const { user, userId, accessToken, refreshToken } = await enter();
    expect(user).toMatchObject({ _id: userId, isAnonymous: true, emailVerified: false, role: 'reader' });
    expect(user).not.toHaveProperty('email');
    expect(claimsOf(accessToken).amr).toEqual(['anonymous']);
    const refreshed = await project.refresh(refreshToken);
    expect(claimsOf(refreshed.body.accessToken).amr).toEqual(['anonymous']);
    expect(await me(accessToken)).toMatchObject({ status: 200, body: { data: { _id: userId, isAnonymous: true } } });
    expect((await project.auth('PUT', 'update-profile', { token: accessToken, body: { name: 'A' } })).status).toBe(200);
    const path = `/api/projects/${project.id}/users/${userId}`;
    expect(await project.developer.dashboard('GET', path)).toMatchObject({ body: { data: { isAnonymous: true } } });
  });

  test('201 for many, whose missing addresses do not collide', async () => {
    expect(tally(await inParallel(20, () => project.auth('POST', 'anonymous')))).toEqual({ 201: 20 });
  });

  test('403 PLAN_LIMIT counts them: of 50 concurrent ones as many as the plan allows', async () => {
    const owner = await newDeveloper('free');
    const small = await newUsersProject({ settings, owner });
    const made = await inParallel(4, () => inParallel(50, () => small.auth('POST', 'anonymous')));
    expect(tally(made.flat())).toEqual({ 201: 200 });
    expect(await small.auth('POST', 'anonymous')).toMatchObject({ status: 403, body: { code: 'PLAN_LIMIT' } });
  });

  test('403 SIGNUP_DISABLED while sign-ups are closed, SIGN_IN_DISABLED while anonymous sign-in is off', async () => {
    const closed = await newUsersProject({ settings: { ...settings, allowPublicSignup: false } });
    expect(await closed.auth('POST', 'anonymous')).toMatchObject({ status: 403, body: { code: 'SIGNUP_DISABLED' } });
    const off = await newUsersProject();
    expect(await off.auth('POST', 'anonymous')).toMatchObject({ status: 403, body: { code: 'SIGN_IN_DISABLED' } });
  });
});

describe('an upgrade with a password', () => {
  test('200 for the same user, session and documents, with a verification email', async () => {
    const todos: CollectionInput = {
      name: 'todos',
      schema: null,
      rls: { enabled: true, mode: 'private', ownerField: 'userId' },
    };
    await project.developer.dashboard('POST', `/api/projects/${project.id}/collections`, todos);
    const { userId, accessToken, refreshToken } = await enter();
    const key = project.publishableKey;
    await project.api('POST', '/api/data/todos', { key, token: accessToken, body: { task: 'mine' } });
    const { email, password } = newCredentials();
    const answer = await upgrade(accessToken, { email: ` ${email.toUpperCase()}`, password });
    expect(answer).toMatchObject({ status: 200, body: { userId, user: { _id: userId, email, emailVerified: false } } });
    expect(answer.body.user).not.toHaveProperty('isAnonymous');
    expect(claimsOf(answer.body.accessToken).sid).toBe(claimsOf(accessToken).sid);
    expect((await project.refresh(refreshToken)).status).toBe(200);
    const signedIn = await project.logIn({ email, password });
    expect(signedIn).toMatchObject({ status: 200, body: { userId } });
    const mine = await project.api('GET', '/api/data/todos', { key, token: signedIn.body.accessToken });
    expect(mine.body).toMatchObject({ data: { items: [{ task: 'mine' }] } });
    const body = { token: tokenIn(await mailTo(email)) };
    expect((await project.auth('POST', 'verify-email', { body, token: accessToken })).status).toBe(200);
    expect(await upgrade(accessToken, newCredentials())).toMatchObject(notAnonymous);
  });

  test('200 for one of 50 concurrent requests with different addresses, 409 for the others', async () => {
    const { accessToken } = await enter();
    const answers = await inParallel(50, () => upgrade(accessToken, newCredentials()));
    expect(tally(answers)).toEqual({ 200: 1, 409: 49 });
  });

  test('409 USER_EXISTS for a taken address: one of 50 anonymous users gets it', async () => {
    const tokens = (await inParallel(50, () => enter())).map(({ accessToken }) => accessToken);
    const credentials = newCredentials();
    const answers = await inParallel(50, (n) => upgrade(tokens[n] ?? '', credentials));
    expect(tally(answers)).toEqual({ 200: 1, 409: 49 });
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'USER_EXISTS' });
  });

  test('409 NOT_ANONYMOUS for other users, 401 without a session', async () => {
    const user = await project.newUser();
    expect(await upgrade(user.accessToken, newCredentials())).toMatchObject(notAnonymous);
    expect((await project.auth('POST', 'anonymous/upgrade', { body: newCredentials() })).status).toBe(401);
    const { accessToken, refreshToken } = await enter();
    await project.auth('POST', 'logout', { headers: { 'x-refresh-token': refreshToken } });
    expect(await upgrade(accessToken, newCredentials())).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_INVALID' },
    });
  });

  test('400 VALIDATION_FAILED for an invalid address or password; the user stays anonymous', async () => {
    const { accessToken, userId } = await enter();
    const { email, password } = newCredentials();
    for (const body of [{ password }, { email: 'nobody', password }, { email, password: 'short' }]) {
      expect(await upgrade(accessToken, body)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    }
    expect(await me(accessToken)).toMatchObject({ body: { data: { _id: userId, isAnonymous: true } } });
  });

  test('403 SIGN_IN_DISABLED when the sign-in method is off', async () => {
    const codeless = await newUsersProject({ settings: { signIn: { anonymous: true } } });
    const { accessToken } = await enter(codeless);
    const { email } = newCredentials();
    const refused = { status: 403, body: { code: 'SIGN_IN_DISABLED' } };
    expect(await upgrade(accessToken, { email }, codeless)).toMatchObject(refused);
    expect((await upgrade(accessToken, newCredentials(), codeless)).status).toBe(200);
  });
});

describe('an upgrade by a code', () => {
  test('200 completes it from another browser; until then the user stays anonymous', async () => {
    const { userId, accessToken, refreshToken } = await enter();
    const { email } = newCredentials();
    const begun = await upgrade(accessToken, { email });
    expect(begun).toMatchObject({ status: 200, body: { userId, user: { email, isAnonymous: true } } });
    expect((await project.refresh(refreshToken)).status).toBe(200);
    const done = await verify({ email, code: codeIn(await mailTo(email)) });
    expect(done).toMatchObject({ status: 200, body: { userId, user: { email, emailVerified: true } } });
    expect(done.body.user).not.toHaveProperty('isAnonymous');
    expect(await upgrade(done.body.accessToken, newCredentials())).toMatchObject(notAnonymous);
  });

  test('200 for one of 50 concurrent completions, and no second account is created', async () => {
    const { userId, accessToken } = await enter();
    const { email } = newCredentials();
    await upgrade(accessToken, { email });
    const mail = await mailTo(email);
    const bodies = [{ email, code: codeIn(mail) }, { token: tokenIn(mail) }];
    const answers = await inParallel(50, (n) => verify(bodies[n % 2] ?? {}));
    expect(tally(answers)).toEqual({ 200: 1, 400: 49 });
    const [stored, ...others] = await storedUsers(project, { email });
    expect(String(stored?._id)).toBe(userId);
    expect(others).toEqual([]);
  });

  test('400 for the right code after five wrong ones of 50 concurrent guesses', async () => {
    const { accessToken } = await enter();
    const { email } = newCredentials();
    await upgrade(accessToken, { email });
    const code = codeIn(await mailTo(email));
    const wrong = code.startsWith('A') ? 'BBBB-BBBB' : 'AAAA-AAAA';
    expect(tally(await inParallel(50, () => verify({ email, code: wrong })))).toEqual({ 400: 50 });
    expect(await verify({ email, code })).toMatchObject({ status: 400, body: { code: 'INVALID_CODE' } });
    expect(await me(accessToken)).toMatchObject({ body: { data: { isAnonymous: true } } });
  });

  test('200 again with another address when the first was mistyped', async () => {
    const { userId, accessToken } = await enter();
    const [wrong, right] = [newCredentials().email, newCredentials().email];
    await upgrade(accessToken, { email: wrong });
    expect((await upgrade(accessToken, { email: right })).status).toBe(200);
    const code = codeIn(await mailTo(right));
    expect(await verify({ email: right, code })).toMatchObject({ status: 200, body: { userId } });
    expect(await verify({ email: wrong, code: codeIn(await mailTo(wrong)) })).toMatchObject({ status: 201 });
  });

  test('200 for the owner of an address that another user has requested, whose session and identities end', async () => {
    const attacker = await enter();
    const { email } = newCredentials();
    const identities = [{ provider: 'github', id: 'x', key: `github:${attacker.userId}` }];
    await upgrade(attacker.accessToken, { email });
    await changeStoredUsers(project, { email }, { identities });
    expect(await verify({ email, code: codeIn(await mailTo(email)) })).toMatchObject({
      status: 200,
      body: { user: { emailVerified: true } },
    });
    expect((await project.refresh(attacker.refreshToken)).status).toBe(401);
    expect((await storedUsers(project, { email }))[0]).not.toHaveProperty('identities');
  });
});

describe('an anonymous user who has set a password', () => {
  const setPassword = async (token: string, newPassword: string): Promise<void> => {
    expect((await project.auth('PUT', 'change-password', { token, body: { newPassword } })).status).toBe(200);
  };

  test('200 when they sign in with the new address, and is no longer anonymous', async () => {
    const { accessToken, userId } = await enter();
    const { email, password } = newCredentials();
    await setPassword(accessToken, password);
    expect(await me(accessToken)).toMatchObject({ body: { data: { _id: userId, isAnonymous: true } } });
    const upgraded = await upgrade(accessToken, { email });
    expect(upgraded).toMatchObject({ status: 200, body: { user: { email, emailVerified: false } } });
    expect(upgraded.body.user).not.toHaveProperty('isAnonymous');
    expect(await project.logIn({ email, password })).toMatchObject({ status: 200, body: { userId } });
    expect((await storedUsers(project, { email }))[0]?._signIn).not.toHaveProperty('anonymous');
  });

  test('200 when they sign in with the earlier address, and is no longer anonymous', async () => {
    const { accessToken, userId } = await enter();
    const { email, password } = newCredentials();
    await upgrade(accessToken, { email });
    await setPassword(accessToken, password);
    expect(await project.logIn({ email, password })).toMatchObject({ status: 200, body: { userId } });
    expect((await storedUsers(project, { email }))[0]?._signIn).not.toHaveProperty('anonymous');
  });
});

test('400 for an account without required fields until the profile has them', async () => {
  const schema = [...(users.schema ?? []), { key: 'country', type: 'String', required: true }];
  const strict = await newUsersProject({ collection: { ...users, schema }, settings });
  const { accessToken: token } = await enter(strict);
  const change = (body: object) => strict.auth('PUT', 'update-profile', { token, body });
  expect(await change({ name: 'Ada' })).toMatchObject({ status: 400, body: { errors: [{ field: 'country' }] } });
  expect(tally([await change({ country: 'GB' }), await change({ name: 'Ada' })])).toEqual({ 200: 2 });
});
