import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { accountChanges } from '../../../shared/accounts/account-mail.ts';
import { changeEmail } from '../../../shared/accounts/change-credentials.ts';
import { userAccounts } from '../../../shared/accounts/users/users.ts';
import { clock } from '../../../shared/core/clock.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { codeIn, linkIn, mailAbout, mailsTo, mailTo, tokenIn } from '../../support/clients/inbox.ts';
import { changeStoredUsers, domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import {
  ageSession,
  newCredentials,
  newUsersProject,
  type SignIn,
  site,
  type UsersProject,
} from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { anonymous: true, emailCode: true } } });
});

afterEach(() => {
  vi.restoreAllMocks();
});

type User = Awaited<ReturnType<UsersProject['newUser']>>;
type Asker = Pick<User, 'token'> & Partial<Pick<User, 'password'>>;

const inHeader = { 'x-refresh-token-mode': 'header' };
const invalid = { status: 400, body: { code: 'INVALID_EMAIL_TOKEN' } };
const wrong = { status: 401, body: { code: 'INVALID_CREDENTIALS' } };
const ended = { status: 401, body: { code: 'TOKEN_INVALID' } };
const reauthentication = { status: 403, body: { code: 'REAUTHENTICATION_REQUIRED' } };

const newAddress = (): string => newCredentials().email;
const ask = ({ token, password }: Asker, email: string) =>
  project.auth('POST', 'request-email-change', { token, body: { email, ...(password && { password }) } });
const confirm = ({ token }: Asker, body: object) => project.auth('POST', 'change-email', { token, body });
const me = async ({ token }: Asker) =>
  (await project.auth<{ readonly data: Record<string, unknown> }>('GET', 'me', { token })).body.data;

/** The email to a requested address. */
const asked = async (user: Asker, email = newAddress()) => {
  expect(await ask(user, email)).toMatchObject({ status: 200 });
  const mail = await mailTo(email);
  return { email, mail, token: tokenIn(mail), otp: codeIn(mail) };
};

const toldOld = (to: string) => mailLogs.countDocuments({ to, templateUsed: 'account-change' });

describe('changing the address', () => {
  test('200 by the link of the email: the address is verified, other sessions end, and the old address is free', async () => {
    const user = await project.newUser();
    const elsewhere = await project.logIn(user, inHeader);
    const email = newAddress();
    const answer = await ask(user, ` ${email.toUpperCase()} `);
    expect(Object.keys(answer.body)).toEqual(['success', 'message']);
    const mail = await mailTo(email);
    expect(mail.subject).toBe('Confirm your new email address for test project');
    expect(linkIn(mail).href).toBe(`${site}/change-email?token=${tokenIn(mail)}`);
    expect(await me(user)).toMatchObject({ email: user.email, emailVerified: false });
    const done = await confirm(user, { token: tokenIn(mail) });
    expect(done).toMatchObject({ status: 200, body: { success: true, message: 'Address changed' } });
    expect(Object.keys(done.body)).toEqual(['success', 'message']);
    expect(await me(user)).toMatchObject({ _id: user.userId, email, emailVerified: true });
    expect((await project.refresh(elsewhere.body.refreshToken)).status).toBe(401);
    expect((await project.refresh(user.refreshToken)).status).toBe(200);
    expect((await project.logIn({ email, password: user.password })).status).toBe(200);
    expect((await project.signUp({ email: user.email, password: user.password })).status).toBe(201);
    expect(await confirm(user, { token: tokenIn(mail) })).toMatchObject(invalid);
  });

  test('200 by its code, for one of 50 concurrent requests', async () => {
    const user = await project.newUser();
    const { email, token, otp } = await asked(user);
    const proofs = [{ token }, { email, otp }];
    const answers = await inParallel(50, (n) => confirm(user, proofs[n % 2] ?? {}));
    expect(tally(answers)).toEqual({ 200: 1, 400: 49 });
    expect(await me(user)).toMatchObject({ email, emailVerified: true });
    const other = await project.newUser();
    const { otp: code, email: second } = await asked(other);
    expect((await confirm(other, { email: second, otp: code.toLowerCase() })).status).toBe(200);
  });

  test('200 for a user without address and password, who then signs in by code', async () => {
    const user = await project.newUser();
    const stored = await domainProject(project);
    const unset = { $unset: { email: '' }, $set: { hasPassword: false } };
    await userAccounts(stored).change({ email: user.email }, unset);
    const { email, token } = await asked({ token: user.token });
    expect((await confirm(user, { token })).status).toBe(200);
    expect(await me(user)).toMatchObject({ email, emailVerified: true });
  });

  test('200 for an anonymous user, who is no longer anonymous', async () => {
    const user = (await project.auth<SignIn>('POST', 'anonymous')).body;
    const { email, token } = await asked(user);
    expect(await me(user)).toMatchObject({ isAnonymous: true });
    expect((await confirm(user, { token })).status).toBe(200);
    const shown = await me(user);
    expect(shown).toMatchObject({ email, emailVerified: true });
    expect(shown).not.toHaveProperty('isAnonymous');
  });
});

describe('an address that two accounts request', () => {
  test('200 for the first one, whose link and code the second neither replaces nor can try', async () => {
    const [user, stranger] = [await project.newUser(), await project.newUser()];
    const { email, token, otp } = await asked(user);
    const moment = clock.now() + 61_000;
    vi.spyOn(clock, 'now').mockReturnValue(moment);
    expect((await ask(stranger, email)).status).toBe(200);
    vi.restoreAllMocks();
    const guesses = await inParallel(50, () => confirm(stranger, { email, otp: 'AAAA-AAAA' }));
    expect(tally(guesses)).toEqual({ 400: 50 });
    for (const proof of [{ token }, { email, otp }]) expect(await confirm(stranger, proof)).toMatchObject(invalid);
    expect((await confirm(user, { email, otp })).status).toBe(200);
    expect(await me(user)).toMatchObject({ email });
  });

  test('200 and an email for each of them within the minute', async () => {
    const [user, stranger] = [await project.newUser(), await project.newUser()];
    const { email, token } = await asked(user);
    expect((await ask(stranger, email)).status).toBe(200);
    await project.newUser().then((other) => mailTo(other.email));
    expect(await mailsTo(email)).toHaveLength(2);
    expect((await confirm(user, { token })).status).toBe(200);
  });
});

describe('the old address', () => {
  test('is notified when it was verified, once per requested address', async () => {
    const user = await project.newUser();
    await changeStoredUsers(project, { email: user.email }, { emailVerified: true });
    const { email } = await asked(user);
    expect(await toldOld(user.email)).toBe(1);
    const { text } = await mailAbout(user.email, /has changed$/);
    expect(text).toContain(accountChanges.addressChangeAsked);
    expect(text).not.toContain(email);
    expect((await ask(user, email)).status).toBe(200);
    expect(await toldOld(user.email)).toBe(1);
    await asked(user);
    expect(await toldOld(user.email)).toBe(2);
  });

  test('is not notified when it was never verified', async () => {
    const user = await project.newUser();
    await asked(user);
    expect(await toldOld(user.email)).toBe(0);
  });

  test('400 for the link of an earlier reset', async () => {
    const user = await project.newUser();
    await project.auth('POST', 'request-password-reset', { body: { email: user.email } });
    const reset = tokenIn(await mailAbout(user.email, /^Reset/));
    const { token } = await asked(user);
    expect((await confirm(user, { token })).status).toBe(200);
    const body = { token: reset, newPassword: 'a new password' };
    expect(await project.auth('POST', 'reset-password', { body })).toMatchObject(invalid);
  });
});

describe('a taken address', () => {
  test('200 without an email to it; four requests are one email when it is free', async () => {
    const [user, holder] = [await project.newUser(), await project.newUser()];
    await mailTo(holder.email);
    const taken = await ask(user, holder.email);
    const free = newAddress();
    const answers = [];
    // Sequential, because a password counts as wrong until it is checked.
    for (let n = 0; n < 4; n++) answers.push(await ask(user, free));
    const plain = ({ status, body }: typeof taken) => ({ status, body });
    for (const answer of answers) expect(plain(answer)).toEqual(plain(taken));
    await mailTo(free);
    await project.newUser().then(({ email }) => mailTo(email));
    expect(await mailsTo(free)).toHaveLength(1);
    expect(await mailsTo(holder.email)).toHaveLength(1);
  });

  test('409 USER_EXISTS when it was taken meanwhile, and nothing changes', async () => {
    const user = await project.newUser();
    const { email, token } = await asked(user);
    expect((await project.signUp({ email, password: user.password })).status).toBe(201);
    expect(await confirm(user, { token })).toMatchObject({ status: 409, body: { code: 'USER_EXISTS' } });
    expect(await me(user)).toMatchObject({ email: user.email, emailVerified: false });
    expect((await project.logIn(user)).status).toBe(200);
  });
});

describe('400 INVALID_EMAIL_TOKEN', () => {
  test('for the address before the last requested one, which is valid', async () => {
    const user = await project.newUser();
    const [first, second] = [await asked(user), await asked(user)];
    expect(await confirm(user, { token: first.token })).toMatchObject(invalid);
    expect((await confirm(user, { email: second.email, otp: second.otp })).status).toBe(200);
    expect(await me(user)).toMatchObject({ email: second.email });
  });

  const ends: readonly (readonly [string, (user: User) => Promise<{ readonly status: number }>])[] = [
    [
      'the password was changed',
      ({ token, password: currentPassword }) =>
        project.auth('PUT', 'change-password', { token, body: { currentPassword, newPassword: 'a new password' } }),
    ],
    [
      'the password was set anew',
      async ({ email }) => {
        await project.auth('POST', 'request-password-reset', { body: { email } });
        const token = tokenIn(await mailAbout(email, /^Reset/));
        return project.auth('POST', 'reset-password', { body: { token, newPassword: 'a new password' } });
      },
    ],
    [
      'the developer gave the account another address',
      ({ userId }) =>
        project.developer.dashboard('PATCH', `/api/projects/${project.id}/users/${userId}`, { email: newAddress() }),
    ],
  ];

  test.each(ends)('after %s', async (_name, end) => {
    const user = await project.newUser();
    const { token } = await asked(user);
    expect((await end(user)).status).toBe(200);
    const { token: own } = (await storedUsers(project, { email: user.email })).length
      ? (await project.logIn({ email: user.email, password: 'a new password' })).body
      : user;
    expect(await confirm({ token: own }, { token })).toMatchObject(invalid);
  });

  test('for a user of another account', async () => {
    const [attacker, victim] = [await project.newUser(), await project.newUser()];
    const { token, email } = await asked(attacker);
    expect(await confirm(victim, { token })).toMatchObject(invalid);
    expect(await me(victim)).toMatchObject({ email: victim.email });
    expect(await storedUsers(project, { email })).toEqual([]);
  });

  test('for the email of a sign-up, which stays valid', async () => {
    const user = await project.newUser();
    const token = tokenIn(await mailTo(user.email));
    expect(await confirm(user, { token })).toMatchObject(invalid);
    expect((await project.auth('POST', 'verify-email', { body: { token } })).status).toBe(200);
  });

  test.each([
    ['garbage', { token: 'x' }],
    ['a token that looks right', { token: 'A'.repeat(64) }],
    ['a code of nobody', { email: 'nobody@example.com', otp: 'AAAA-AAAA' }],
  ])('for %s', async (_name, proof) => {
    expect(await confirm(await project.newUser(), proof)).toMatchObject(invalid);
  });

  test('for the right code after five wrong ones of 50 concurrent guesses; the link stays valid', async () => {
    const user = await project.newUser();
    const { email, otp, token } = await asked(user);
    const guesses = await inParallel(50, (n) => confirm(user, { email, otp: `AAAA-AA${'ABCDEFGH'[n % 8]}A` }));
    expect(tally(guesses)).toEqual({ 400: 50 });
    expect(await confirm(user, { email, otp })).toMatchObject(invalid);
    expect((await confirm(user, { token })).status).toBe(200);
  });

  test('an hour after the email', async () => {
    const user = await project.newUser();
    const { token } = await asked(user);
    const sessions = await project.auth<{ data: { _id: string }[] }>('GET', 'sessions', { token: user.token });
    const bearer = { userId: user.userId, sessionId: sessions.body.data[0]?._id ?? '' };
    const store = userAccounts(await domainProject(project));
    vi.spyOn(clock, 'now').mockReturnValue(clock.now() + 3601_000);
    await expect(changeEmail(store, bearer, { token }, { ip: '192.0.2.7', userAgent: 'test' })).rejects.toMatchObject({
      code: 'INVALID_EMAIL_TOKEN',
    });
  });
});

describe('400 VALIDATION_FAILED', () => {
  test('for the account’s current address, and for an invalid one', async () => {
    const user = await project.newUser();
    const own = { field: 'email', message: 'email is the address of this account already' };
    expect(await ask(user, user.email.toUpperCase())).toMatchObject({ status: 400, body: { errors: [own] } });
    for (const email of ['', 'nobody', 'a@b', 'a@example.com\r\nBcc: b@example.com'])
      expect(await ask(user, email)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });

  test.each([
    ['nothing', {}, 'token is required, or email and otp'],
    ['an address alone', { email: 'a@b.co' }, 'otp is required'],
    ['a code alone', { otp: 'AAAA-AAAA' }, 'email is required'],
  ])('for a confirmation with %s', async (_name, proof, message) => {
    const refused = { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ message }] } };
    expect(await confirm(await project.newUser(), proof)).toMatchObject(refused);
  });
});

describe('the caller', () => {
  test('401 INVALID_CREDENTIALS with a wrong or missing password, without an email', async () => {
    const user = await project.newUser();
    const email = newAddress();
    expect(await ask({ ...user, password: 'not the password' }, email)).toMatchObject(wrong);
    expect(await ask({ token: user.token }, email)).toMatchObject(wrong);
    await project.newUser().then((other) => mailTo(other.email));
    expect(await mailsTo(email)).toEqual([]);
  });

  test('401 for at most five of 50 concurrent guesses with a stolen token, then 429 ACCOUNT_LOCKED', async () => {
    const user = await project.newUser();
    const guesses = await inParallel(50, (n) => ask({ token: user.token, password: `guess ${n}` }, newAddress()));
    expect(tally(guesses)).toEqual({ 401: 5, 429: 45 });
    expect(await ask(user, newAddress())).toMatchObject({ status: 429, body: { code: 'ACCOUNT_LOCKED' } });
  });

  test('401 TOKEN_INVALID with an ended session, for request and confirmation', async () => {
    const user = await project.newUser();
    const { token } = await asked(user);
    await project.auth('POST', 'logout', { headers: { 'x-refresh-token': user.refreshToken } });
    expect(await ask(user, newAddress())).toMatchObject(ended);
    expect(await confirm(user, { token })).toMatchObject(ended);
    const again = (await project.logIn(user)).body;
    expect((await confirm(again, { token })).status).toBe(200);
  });

  test('403 REAUTHENTICATION_REQUIRED without a password ten minutes after the sign-in', async () => {
    const user = await project.newUser();
    await changeStoredUsers(project, { email: user.email }, { hasPassword: false });
    await ageSession(projectScope(project.id), user.token, 11);
    expect(await ask({ token: user.token }, newAddress())).toMatchObject(reauthentication);
  });
});
