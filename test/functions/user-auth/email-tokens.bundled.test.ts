import { Collection, MongoNetworkError } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { requestEmailToken, resetPassword, verifyEmail } from '../../../shared/accounts/email-proofs.ts';
import {
  addressKeyOf,
  type EmailTokenKind,
  type IssuedTokens,
  issueTokens,
} from '../../../shared/accounts/email-tokens.ts';
import { userAccounts } from '../../../shared/accounts/users/users.ts';
import { clock } from '../../../shared/core/clock.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { codeIn, linkIn, mailsTo, mailTo, tokenIn } from '../../support/clients/inbox.ts';
import { domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import {
  claimsOf,
  newCredentials,
  newUsersProject,
  type SignIn,
  site,
  type UsersProject,
} from '../../support/fixtures/users.ts';

let project: UsersProject;
let domain: Project;

beforeAll(async () => {
  project = await newUsersProject();
  domain = await domainProject(project);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Moves the clock of this process only. */
const later = (ms: number): void => {
  const moment = clock.now() + ms;
  vi.spyOn(clock, 'now').mockReturnValue(moment);
};

const invalid = { status: 400, body: { code: 'INVALID_EMAIL_TOKEN' } };
const rejected = { code: 'INVALID_EMAIL_TOKEN' };
const newPassword = 'a new password';
const client = { ip: '192.0.2.1', userAgent: 'test' };

type Kind = Exclude<EmailTokenKind, 'code' | 'change'>;

const paths: Readonly<Record<Kind, string>> = { verify: 'verify-email', reset: 'reset-password' };
const requests: Readonly<Record<Kind, string>> = {
  verify: 'resend-verification-otp',
  reset: 'request-password-reset',
};
const kinds: Kind[] = ['verify', 'reset'];

const use = (kind: Kind, proof: object, of = project) =>
  of.auth('POST', paths[kind], { body: { ...proof, ...(kind === 'reset' ? { newPassword } : {}) } });
const request = (kind: Kind, email: string) => project.auth('POST', requests[kind], { body: { email } });

type User = Awaited<ReturnType<UsersProject['newUser']>>;

/** Tokens of an email, which replace those sent before. */
const issue = async (kind: Kind, { email, userId }: User): Promise<IssuedTokens> => {
  const now = clock.now();
  const ahead = vi.spyOn(clock, 'now').mockReturnValue(now + 61_000);
  const issued = await issueTokens(
    { scope: projectScope(project.id), kind, addressKey: addressKeyOf(email) },
    email,
    userId,
  );
  ahead.mockRestore();
  if (!issued.isGood) throw new Error('A mail was sent less than a minute ago');
  return issued;
};

const isVerified = async ({ email }: User): Promise<unknown> =>
  (await storedUsers(project, { email }))[0]?.emailVerified;

describe('the emails', () => {
  test('of a sign-up verify the address by link and by code', async () => {
    const user = await project.newUser();
    const mail = await mailTo(user.email);
    expect(linkIn(mail).href).toBe(`${site}/verify-email?token=${tokenIn(mail)}`);
    const body = { token: tokenIn(mail) };
    const answer = await project.auth('POST', 'verify-email', { body, token: user.token });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, message: 'Email verified' });
    expect(await project.auth('GET', 'me', { token: user.token })).toMatchObject({
      body: { data: { emailVerified: true } },
    });
    const other = await project.newUser();
    const { email } = other;
    expect(await use('verify', { email, otp: codeIn(await mailTo(email)) })).toMatchObject({ status: 200 });
    expect(await isVerified(other)).toBe(true);
  });

  test('of a reset set another password by link and by code', async () => {
    const user = await project.newUser();
    await mailTo(user.email);
    const asked = await request('reset', ` ${user.email.toUpperCase()} `);
    expect(asked.status).toBe(200);
    expect(Object.keys(asked.body)).toEqual(['success', 'message']);
    const mail = await mailTo(user.email, 2);
    expect(linkIn(mail).href).toBe(`${site}/reset-password?token=${tokenIn(mail)}`);
    const answer = await use('reset', { email: user.email, otp: codeIn(mail) });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['success', 'message']);
    expect(await project.logIn({ email: user.email, password: newPassword })).toMatchObject({ status: 200 });
  });

  test('have no link when the project has no site', async () => {
    const bare = await newUsersProject({ settings: { siteUrl: null } });
    const { email } = await bare.newUser();
    const mail = await mailTo(email);
    expect(mail.text).not.toContain('token=');
    expect(await use('verify', { email, otp: codeIn(mail) }, bare)).toMatchObject({ status: 200 });
  });

  test('link below the path of a site with or without a final slash', async () => {
    const below = await newUsersProject({ settings: { siteUrl: `${site}/shop//` } });
    const { email } = await below.newUser();
    const link = linkIn(await mailTo(email));
    expect(link.origin + link.pathname).toBe(`${site}/shop/verify-email`);
    expect([...link.searchParams.keys()]).toEqual(['token']);
  });

  test('are sent once per address, kind and minute', async () => {
    const user = await project.newUser();
    await mailTo(user.email);
    const answers = await inParallel(50, (n) => request(kinds[n % 2] ?? 'verify', user.email));
    expect(tally(answers)).toEqual({ 200: 50 });
    const reset = await mailTo(user.email, 2);
    await project.newUser().then(({ email }) => mailTo(email));
    expect(await mailsTo(user.email)).toHaveLength(2);
    expect(await use('reset', { token: tokenIn(reset) })).toMatchObject({ status: 200 });
  });

  test('are not delayed by requests from before the account existed', async () => {
    const credentials = newCredentials();
    await request('verify', credentials.email);
    await project.signUp(credentials);
    expect(await use('verify', { token: tokenIn(await mailTo(credentials.email)) })).toMatchObject({ status: 200 });
  });

  test('are not sent to unknown, disabled or verified users', async () => {
    const disabled = await project.newUser();
    await project.developer.dashboard('PATCH', `/api/projects/${project.id}/users/${disabled.userId}`, {
      disabled: true,
    });
    const verified = await project.newUser();
    await use('verify', { token: (await issue('verify', verified)).token });
    const unknown = `nobody-${crypto.randomUUID()}@example.com`;
    for (const email of [disabled.email, unknown]) {
      for (const kind of kinds) expect(await request(kind, email)).toMatchObject({ status: 200 });
    }
    expect(await request('verify', verified.email)).toMatchObject({ status: 200 });
    await project.newUser().then(({ email }) => mailTo(email));
    expect(await mailsTo(unknown)).toHaveLength(0);
    expect(await mailsTo(disabled.email)).toHaveLength(1);
    expect(await mailsTo(verified.email)).toHaveLength(1);
  });
});

describe.each(kinds)('a %s token', (kind) => {
  const confirm = (proof: object): Promise<unknown> =>
    kind === 'verify'
      ? verifyEmail(userAccounts(domain), proof, client)
      : resetPassword(userAccounts(domain), proof, newPassword, client);

  test('200 once by link or code, which are both used then', async () => {
    const first = await project.newUser();
    const byLink = await issue(kind, first);
    expect(await use(kind, { token: byLink.token })).toMatchObject({ status: 200 });
    expect(await use(kind, { token: byLink.token })).toMatchObject(invalid);
    expect(await use(kind, { email: first.email, otp: byLink.code })).toMatchObject(invalid);
    const second = await project.newUser();
    const byCode = await issue(kind, second);
    expect(await use(kind, { email: second.email, otp: byCode.code })).toMatchObject({ status: 200 });
    expect(await use(kind, { email: second.email, otp: byCode.code })).toMatchObject(invalid);
    expect(await use(kind, { token: byCode.token })).toMatchObject(invalid);
  });

  test('200 for exactly one of 50 concurrent links and codes', async () => {
    const user = await project.newUser();
    const { token } = await issue(kind, user);
    expect(tally(await inParallel(50, () => use(kind, { token })))).toEqual({ 200: 1, 400: 49 });
    const other = await project.newUser();
    const { code: otp } = await issue(kind, other);
    const { email } = other;
    expect(tally(await inParallel(50, () => use(kind, { email, otp })))).toEqual({ 200: 1, 400: 49 });
    const third = await project.newUser();
    const both = await issue(kind, third);
    const proofs = [{ token: both.token }, { email: third.email, otp: both.code }];
    expect(tally(await inParallel(50, (n) => use(kind, proofs[n % 2] ?? {})))).toEqual({ 200: 1, 400: 49 });
  });

  test('200 for a code in any case, with or without dash and spaces', async () => {
    for (const write of [
      (code: string) => code.toLowerCase(),
      (code: string) => code.replace('-', ''),
      (code: string) => ` ${code.replace('-', ' ')} `,
    ]) {
      const user = await project.newUser();
      const { code } = await issue(kind, user);
      expect(await use(kind, { email: user.email.toUpperCase(), otp: write(code) })).toMatchObject({ status: 200 });
    }
  });

  test('400 after five of 50 concurrent wrong codes; the link stays valid', async () => {
    const user = await project.newUser();
    const { email } = user;
    const { code, token } = await issue(kind, user);
    const guesses = await inParallel(50, (n) => use(kind, { email, otp: `AAAA-AA${'ABCDEFGH'[n % 8]}${n % 8 || 2}` }));
    expect(tally(guesses)).toEqual({ 400: 50 });
    expect(await use(kind, { email, otp: code })).toMatchObject(invalid);
    expect(await use(kind, { token })).toMatchObject({ status: 200 });
  });

  test('200 for the right code after four wrong ones', async () => {
    const user = await project.newUser();
    const { email } = user;
    const { code } = await issue(kind, user);
    for (let n = 0; n < 4; n++) expect(await use(kind, { email, otp: 'AAAA-AAAA' })).toMatchObject(invalid);
    expect(await use(kind, { email, otp: code })).toMatchObject({ status: 200 });
  });

  test('400 when a newer email has replaced it', async () => {
    const user = await project.newUser();
    const old = await issue(kind, user);
    later(61_000);
    const now = await issue(kind, user);
    expect(await use(kind, { token: old.token })).toMatchObject(invalid);
    expect(await use(kind, { email: user.email, otp: old.code })).toMatchObject(invalid);
    expect(await use(kind, { token: now.token })).toMatchObject({ status: 200 });
  });

  test.each<[string, Record<string, unknown>]>([
    ['garbage', { token: 'x' }],
    ['an empty token', { token: '' }],
    ['a token that looks right', { token: 'A'.repeat(64) }],
    ['an endless token', { token: 'A'.repeat(100_000) }],
    ['a pattern', { token: '.*' }],
    ['a code of nobody', { email: 'nobody@example.com', otp: 'AAAA-AAAA' }],
    ['a code that cannot be', { email: 'nobody@example.com', otp: '000000' }],
    ['an empty code', { email: 'nobody@example.com', otp: '' }],
  ])('400 INVALID_EMAIL_TOKEN for %s', async (_name, proof) => {
    expect(await use(kind, proof)).toMatchObject(invalid);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['nothing', {}, 'token is required, or email and otp'],
    ['an address alone', { email: 'a@b.co' }, 'otp is required'],
    ['a code alone', { otp: 'AAAA-AAAA' }, 'email is required'],
    ['an operator for a token', { token: { $ne: null } }, 'token must be a String'],
  ])('400 VALIDATION_FAILED for %s', async (_name, proof, message) => {
    const [field] = message.split(' ');
    expect(await use(kind, proof)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', message: `Validation failed: ${message}`, errors: [{ field, message }] },
    });
  });

  test('400 for another kind, project or address, and it stays valid', async () => {
    const user = await project.newUser();
    const stranger = await project.newUser();
    const { token, code } = await issue(kind, user);
    const otherKind = kind === 'verify' ? 'reset' : 'verify';
    const other = await newUsersProject({ owner: project.developer });
    await other.signUp(user);
    expect(await use(otherKind, { token })).toMatchObject(invalid);
    expect(await use(otherKind, { email: user.email, otp: code })).toMatchObject(invalid);
    expect(await use(kind, { token }, other)).toMatchObject(invalid);
    expect(await use(kind, { email: user.email, otp: code }, other)).toMatchObject(invalid);
    expect(await use(kind, { email: stranger.email, otp: code })).toMatchObject(invalid);
    expect(await use(kind, { token })).toMatchObject({ status: 200 });
  });

  test('400 after the user’s address changed or the user was deleted', async () => {
    const user = await project.newUser();
    const path = `/api/projects/${project.id}/users/${user.userId}`;
    const { token } = await issue(kind, user);
    await project.developer.dashboard('PATCH', path, { email: `moved-${user.email}` });
    expect(await use(kind, { token })).toMatchObject(invalid);
    expect(await isVerified({ ...user, email: `moved-${user.email}` })).toBe(false);
    const other = await project.newUser();
    const { code } = await issue(kind, other);
    await project.developer.dashboard('DELETE', `/api/projects/${project.id}/users/${other.userId}`);
    expect(await use(kind, { email: other.email, otp: code })).toMatchObject(invalid);
  });

  test('INVALID_EMAIL_TOKEN for a code after 10 minutes; the link stays valid', async () => {
    const user = await project.newUser();
    const { token, code } = await issue(kind, user);
    const { email } = user;
    later(61_000 + 599_000);
    await expect(confirm({ email, otp: 'AAAA-AAAA' })).rejects.toMatchObject(rejected);
    later(2000);
    await expect(confirm({ email, otp: code })).rejects.toMatchObject(rejected);
    await confirm({ token });
  });

  test('INVALID_EMAIL_TOKEN for an expired link, even if the table still has it', async () => {
    const hours = kind === 'verify' ? 24 : 1;
    const early = await project.newUser();
    const good = await issue(kind, early);
    const late = await project.newUser();
    const expired = await issue(kind, late);
    later(hours * 3600_000);
    await confirm({ token: good.token });
    later(62_000);
    await expect(confirm({ token: expired.token })).rejects.toMatchObject(rejected);
  });
});

describe('a reset', () => {
  test('200 ends all sessions, verifies the address and replaces the password', async () => {
    const user = await project.newUser();
    const elsewhere = await project.logIn(user, { 'x-refresh-token-mode': 'header' });
    const { token } = await issue('reset', user);
    expect(await use('reset', { token })).toMatchObject({ status: 200 });
    for (const session of [user.refreshToken, (elsewhere.body as SignIn).refreshToken]) {
      expect(await project.refresh(session)).toMatchObject({ status: 401 });
    }
    expect(await project.logIn(user)).toMatchObject({ status: 401 });
    expect(await isVerified(user)).toBe(true);
  });

  test('200 for a locked account, and for a sign-in immediately afterwards', async () => {
    const user = await project.newUser();
    await inParallel(6, () => project.logIn({ email: user.email, password: 'not the password' }));
    const { token } = await issue('reset', user);
    expect(await use('reset', { token })).toMatchObject({ status: 200 });
    expect(await project.logIn({ email: user.email, password: newPassword })).toMatchObject({ status: 200 });
  });

  test('400 for an invalid password; the token stays valid', async () => {
    const user = await project.newUser();
    const { token } = await issue('reset', user);
    const tooShort = await project.auth('POST', 'reset-password', { body: { token, newPassword: 'short' } });
    expect(tooShort).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ field: 'newPassword' }] },
    });
    const missing = await project.auth('POST', 'reset-password', { body: { token } });
    expect(missing).toMatchObject({ status: 400, body: { errors: [{ field: 'newPassword' }] } });
    expect(await use('reset', { token })).toMatchObject({ status: 200 });
  });

  test('400 for a disabled user, who stays unchanged', async () => {
    const user = await project.newUser();
    const { token } = await issue('reset', user);
    const verification = await issue('verify', user);
    const path = `/api/projects/${project.id}/users/${user.userId}`;
    await project.developer.dashboard('PATCH', path, { disabled: true });
    expect(await use('reset', { token })).toMatchObject(invalid);
    expect(await use('verify', { token: verification.token })).toMatchObject(invalid);
    await project.developer.dashboard('PATCH', path, { disabled: false });
    expect(await project.logIn(user)).toMatchObject({ status: 200, body: { user: { emailVerified: false } } });
  });
});

describe('when MongoDB fails for a moment', () => {
  const unavailable = { code: 'DATABASE_UNAVAILABLE' };
  const failOnce = (method: 'findOneAndUpdate' | 'updateOne' | 'insertOne'): void => {
    vi.spyOn(Collection.prototype, method).mockRejectedValueOnce(new MongoNetworkError('The connection was cut'));
  };

  test('503 for a reset, whose link and code stay valid', async () => {
    const user = await project.newUser();
    const { token, code } = await issue('reset', user);
    for (const proof of [{ token }, { email: user.email, otp: code }]) {
      failOnce('findOneAndUpdate');
      await expect(resetPassword(userAccounts(domain), proof, newPassword, client)).rejects.toMatchObject(unavailable);
    }
    await resetPassword(userAccounts(domain), { token }, newPassword, client);
    expect(await project.logIn({ email: user.email, password: newPassword })).toMatchObject({ status: 200 });
    await expect(resetPassword(userAccounts(domain), { token }, newPassword, client)).rejects.toMatchObject(rejected);
  });

  test('503 for a verification, whose link stays valid', async () => {
    const user = await project.newUser();
    const { token } = await issue('verify', user);
    failOnce('findOneAndUpdate');
    await expect(verifyEmail(userAccounts(domain), { token }, client)).rejects.toMatchObject(unavailable);
    await verifyEmail(userAccounts(domain), { token }, client);
    expect(await isVerified(user)).toBe(true);
  });

  test('503 for a verification with a session, whose link stays valid', async () => {
    const user = await project.newUser();
    const { token } = await issue('verify', user);
    const { sub, sid } = claimsOf(user.token);
    const bearer = { userId: String(sub), sessionId: String(sid) };
    failOnce('updateOne');
    await expect(verifyEmail(userAccounts(domain), { token }, client, bearer)).rejects.toMatchObject(unavailable);
    await verifyEmail(userAccounts(domain), { token }, client, bearer);
    expect(await isVerified(user)).toBe(true);
  });

  test('503 for an email that was not queued; the next one does not wait a minute', async () => {
    const user = await project.newUser();
    await mailTo(user.email);
    failOnce('insertOne');
    await expect(requestEmailToken(userAccounts(domain), 'reset', user.email)).rejects.toMatchObject(unavailable);
    await requestEmailToken(userAccounts(domain), 'reset', user.email);
    await requestEmailToken(userAccounts(domain), 'reset', user.email);
    const mail = await mailTo(user.email, 2);
    // Before the reset, which sends its own email.
    expect(await mailsTo(user.email)).toHaveLength(2);
    expect(await use('reset', { token: tokenIn(mail) })).toMatchObject({ status: 200 });
  });
});
