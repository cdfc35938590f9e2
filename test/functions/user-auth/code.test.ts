import { randomBytes } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as sendCode } from '../../../functions/user-auth/send-code.ts';
import { addressKeyOf, type IssuedTokens, issueTokens } from '../../../shared/accounts/email-tokens.ts';
import { clock } from '../../../shared/core/clock.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { codeIn, linkIn, mailAbout, mailsTo, mailTo, tokenIn } from '../../support/clients/inbox.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { changeStoredUsers, storedUsers } from '../../support/fixtures/stored-users.ts';
import {
  claimsOf,
  newCredentials,
  newUsersProject,
  type SignIn,
  site,
  type UsersProject,
  users,
} from '../../support/fixtures/users.ts';

listenToCommands();

const settings = { signIn: { emailCode: true } };
let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const inHeader = { 'x-refresh-token-mode': 'header' };
const invalid = { status: 400, body: { code: 'INVALID_CODE' } };
const newAddress = (): string => newCredentials().email;

const send = (email: string, of = project) => of.auth('POST', 'code', { body: { email } });
const verify = (body: object, of = project) => of.auth<SignIn>('POST', 'code/verify', { body, headers: inHeader });

/** Tokens of an email, issued at this process's time. */
const issue = (email: string, of = project): Promise<IssuedTokens> => {
  const place = { scope: projectScope(of.id), kind: 'code', addressKey: addressKeyOf(email) } as const;
  return issueTokens(place, email, randomBytes(12).toString('hex'));
};

const verified = async (of = project) => {
  const user = await of.newUser();
  await changeStoredUsers(of, { email: user.email }, { emailVerified: true });
  return user;
};

describe('signing in by code', () => {
  test('201 for an unknown address: an account with a verified address', async () => {
    const email = newAddress();
    const asked = await send(` ${email.toUpperCase()} `);
    expect(asked).toMatchObject({ status: 200, body: { success: true } });
    expect(Object.keys(asked.body)).toEqual(['success', 'message']);
    const mail = await mailTo(email);
    expect(mail.subject).toContain('Your code to sign in to');
    expect(linkIn(mail).href).toBe(`${site}/auth/code?token=${tokenIn(mail)}`);
    const answer = await verify({ email, code: codeIn(mail).toLowerCase() });
    expect(answer).toMatchObject({ status: 201, body: { user: { email, emailVerified: true, role: 'reader' } } });
    expect(claimsOf(answer.body.accessToken).amr).toEqual(['email']);
    const refreshed = await project.refresh(answer.body.refreshToken);
    expect(claimsOf(refreshed.body.accessToken).amr).toEqual(['email']);
    expect(await storedUsers(project, { email })).toMatchObject([{ hasPassword: false, emailVerified: true }]);
    expect(await verify({ email, code: codeIn(mail) })).toMatchObject(invalid);
    expect(await verify({ token: tokenIn(mail) })).toMatchObject(invalid);
  });

  test('200 for a code with a typographic dash and non-breaking spaces, and a token with white space', async () => {
    const [first, second] = [await verified(), await verified()];
    const { code } = await issue(first.email);
    const typed = `\u00a0${code.replace('-', '\u2013')}\u202f`;
    expect(await verify({ email: first.email, code: typed })).toMatchObject({ status: 200 });
    const { token } = await issue(second.email);
    expect(await verify({ token: `\u00a0${token}\n` })).toMatchObject({ status: 200 });
  });

  test('200 for an account by link in any browser; its password stays', async () => {
    const user = await verified();
    await send(user.email);
    const answer = await verify({ token: tokenIn(await mailAbout(user.email, /code/)) });
    expect(answer).toMatchObject({ status: 200, body: { userId: user.userId, message: 'Signed in' } });
    expect(answer.cookies).toEqual([expect.stringContaining(`refresh_${project.id}=`)]);
    expect((await project.logIn(user)).status).toBe(200);
    expect((await project.refresh(user.refreshToken)).status).toBe(200);
  });

  test('200 for one of 50 concurrent codes and links, 400 for the others', async () => {
    const user = await verified();
    const { token, code } = await issue(user.email);
    const bodies = [{ token }, { email: user.email, code }];
    const answers = await inParallel(50, (n) => verify(bodies[n < 47 ? 0 : 1] ?? {}));
    expect(tally(answers)).toEqual({ 200: 1, 400: 49 });
  });

  test('201 for one of 50 concurrent requests that create an account', async () => {
    const { token } = await issue(newAddress());
    expect(tally(await inParallel(50, () => verify({ token })))).toEqual({ 201: 1, 400: 49 });
  });

  test('201 with a concurrent sign-up of the address, and one account', async () => {
    for (let round = 0; round < 5; round++) {
      const credentials = newCredentials();
      const { token } = await issue(credentials.email);
      const [byCode, signedUp] = await Promise.all([verify({ token }), project.signUp(credentials)]);
      expect([200, 201]).toContain(byCode.status);
      expect(await storedUsers(project, { email: credentials.email })).toMatchObject([{ emailVerified: true }]);
      // A password without a verified address must not sign in.
      expect([201, 409]).toContain(signedUp.status);
      expect((await project.logIn(credentials)).status).toBe(401);
    }
  });
});

describe('an invalid sign-in by code', () => {
  test('400 for a wrong, used or expired code, or one of another address, project or kind, with the same response', async () => {
    const [user, other] = [await verified(), await verified()];
    const { token, code } = await issue(user.email);
    const elsewhere = await newUsersProject({ settings });
    const reset = await issueTokens(
      { scope: projectScope(project.id), kind: 'reset', addressKey: addressKeyOf(user.email) },
      user.email,
      user.userId,
    );
    const bodies = [
      { email: user.email, code: 'AAAA-AAAA' },
      { email: other.email, code },
      { email: newAddress(), code },
      { email: user.email, code: '' },
      { token: 'A'.repeat(64) },
      { token: reset.token },
    ];
    const answers = await Promise.all(bodies.map((body) => verify(body)));
    answers.push(await verify({ token }, elsewhere));
    for (const { status, body, cookies } of answers) {
      expect({ status, code: body.code, message: body.message, cookies }).toEqual({
        status: 400,
        code: 'INVALID_CODE',
        message: answers[0]?.body.message,
        cookies: [],
      });
    }
    expect((await verify({ email: user.email, code })).status).toBe(200);
  });

  test('400 after ten minutes, for code and link', async () => {
    const user = await verified();
    const now = clock.now();
    const before = vi.spyOn(clock, 'now').mockReturnValue(now - 601_000);
    const { token, code } = await issue(user.email);
    before.mockRestore();
    expect(await verify({ email: user.email, code })).toMatchObject(invalid);
    expect(await verify({ token })).toMatchObject(invalid);
  });

  test('400 for the right code after five wrong ones of 50 concurrent guesses from different clients', async () => {
    const user = await verified();
    const { token, code } = await issue(user.email);
    const guess = (n: number) => ({
      email: user.email,
      code: `AAAA-AA${'ABCDEFGHJK'[n % 10]}${'ABCDE'[Math.floor(n / 10)]}`,
    });
    expect(tally(await inParallel(50, (n) => verify(guess(n))))).toEqual({ 400: 50 });
    expect(await verify({ email: user.email, code })).toMatchObject(invalid);
    expect((await verify({ token })).status).toBe(200);
  });

  test('400 for a disabled user, who gets no email', async () => {
    const user = await verified();
    const path = `/api/projects/${project.id}/users/${user.userId}`;
    await project.developer.dashboard('PATCH', path, { disabled: true });
    expect((await send(user.email)).status).toBe(200);
    expect(await verify({ token: (await issue(user.email)).token })).toMatchObject(invalid);
    await send(user.email);
    const other = newAddress();
    await send(other);
    await mailTo(other);
    expect((await mailsTo(user.email)).filter(({ subject }) => subject.includes('code'))).toEqual([]);
  });

  test('400 VALIDATION_FAILED naming the missing field', async () => {
    const errors = async (body: object) => (await verify(body)).body;
    expect(await errors({})).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'token' }] });
    expect(await errors({ email: newAddress() })).toMatchObject({ errors: [{ field: 'code' }] });
    expect(await errors({ code: 'AAAA-AAAA' })).toMatchObject({ errors: [{ field: 'email' }] });
    expect(await send('no address')).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });

  test('403 SIGN_IN_DISABLED when it is off', async () => {
    const off = await newUsersProject();
    const refused = { status: 403, body: { code: 'SIGN_IN_DISABLED' } };
    expect(await off.auth('POST', 'code', { body: {} })).toMatchObject(refused);
    expect(await off.auth('POST', 'code/verify', { body: {} })).toMatchObject(refused);
  });
});

describe('an account that another person created with the address', () => {
  test('200 for its owner; the other person’s password and sessions end', async () => {
    const attacker = await project.newUser();
    await changeStoredUsers(
      project,
      { email: attacker.email },
      { identities: [{ provider: 'github', id: attacker.userId, key: `github:${attacker.userId}` }] },
    );
    const answer = await verify({ token: (await issue(attacker.email)).token });
    expect(answer).toMatchObject({ status: 200, body: { userId: attacker.userId, user: { emailVerified: true } } });
    expect(await project.logIn(attacker)).toMatchObject({ status: 401 });
    expect(await project.refresh(attacker.refreshToken)).toMatchObject({ status: 401 });
    expect((await storedUsers(project, { email: attacker.email }))[0]).not.toHaveProperty('identities');
    expect((await project.refresh(answer.body.refreshToken)).status).toBe(200);
  });

  test('200 also after a password reset; the other person’s identities are removed', async () => {
    const attacker = await project.newUser();
    const identities = [{ provider: 'github', id: 'x', key: `github:${attacker.userId}` }];
    await changeStoredUsers(project, { email: attacker.email }, { identities });
    const reset = await issueTokens(
      { scope: projectScope(project.id), kind: 'reset', addressKey: addressKeyOf(attacker.email) },
      attacker.email,
      attacker.userId,
    );
    const body = { token: reset.token, newPassword: 'a new password' };
    expect((await project.auth('POST', 'reset-password', { body })).status).toBe(200);
    const [stored] = await storedUsers(project, { email: attacker.email });
    expect(stored).not.toHaveProperty('identities');
    expect(stored).toMatchObject({ emailVerified: true });
  });
});

describe('the email', () => {
  test('200 and one email per address and minute for 50 requests, also for an unknown address', async () => {
    for (const email of [newAddress(), (await verified()).email]) {
      expect(tally(await inParallel(50, () => send(email)))).toEqual({ 200: 50 });
      const other = newAddress();
      await send(other);
      await mailTo(other);
      expect((await mailsTo(email)).filter(({ subject }) => subject.includes('code'))).toHaveLength(1);
    }
  });

  test('200 without an email to an unknown address while sign-ups are closed, with the same commands', async () => {
    const closed = await newUsersProject({ settings });
    const user = await verified(closed);
    const path = `/api/projects/${closed.id}`;
    await closed.developer.dashboard('PATCH', path, { allowPublicSignup: false });
    const unknown = newAddress();
    const ask = (email: string) => () => invoke(sendCode, { key: closed.publishableKey, body: { email } });
    // A stopped clock keeps caches valid.
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    await ask(newAddress())();
    const real = await commandsOf(ask(user.email));
    expect(real).toEqual(await commandsOf(ask(unknown)));
    expect(await send(unknown, closed)).toMatchObject({ status: 200, body: (await send(user.email, closed)).body });
    expect(await verify({ token: (await issue(unknown, closed)).token }, closed)).toMatchObject(invalid);
    const mail = await mailAbout(user.email, /code/);
    expect((await verify({ token: tokenIn(mail) }, closed)).status).toBe(200);
    expect(await mailsTo(unknown)).toEqual([]);
  });
});

describe('required fields of the schema', () => {
  test('400 when the first change of the profile omits one; later changes may', async () => {
    const schema = [...(users.schema ?? []), { key: 'country', type: 'String', required: true }];
    const strict = await newUsersProject({ collection: { ...users, schema }, settings });
    const { body } = await verify({ token: (await issue(newAddress(), strict)).token }, strict);
    const change = (changes: object) =>
      strict.auth('PUT', 'update-profile', { token: body.accessToken, body: changes });
    expect(await change({ name: 'Ada' })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ field: 'country' }] },
    });
    expect(await change({ name: 'Ada', country: 'GB' })).toMatchObject({
      status: 200,
      body: { user: { country: 'GB' } },
    });
    expect((await change({ name: 'Lovelace' })).status).toBe(200);
  });
});
