import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AccountRecord } from '../../shared/accounts/account-store.ts';
import { developerSignIns } from '../../shared/accounts/developers/developers.ts';
import { openDeveloper } from '../../shared/accounts/developers/social-site.ts';
import { markVerified } from '../../shared/accounts/email-proofs.ts';
import { addressKeyOf, type EmailTokenKind, issueTokens } from '../../shared/accounts/email-tokens.ts';
import { refresh, type SigningStore } from '../../shared/accounts/sign-in.ts';
import { linkAccount, type OpenAccount } from '../../shared/accounts/social/link.ts';
import { requireProvider } from '../../shared/accounts/social/providers.ts';
import { createAccount } from '../../shared/accounts/users/sign-up.ts';
import { requireUsers, userSignIns } from '../../shared/accounts/users/users.ts';
import { clock } from '../../shared/core/clock.ts';
import { shownCode } from '../support/clients/authenticator.ts';
import { cookieOf, inParallel, tally } from '../support/clients/client.ts';
import { auth, type DashboardSignIn } from '../support/fixtures/developers.ts';
import { domainProject } from '../support/fixtures/stored-users.ts';
import { type Credentials, newCredentials, newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

interface Session {
  readonly status: number;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** The account routes, called in the same way for users and developers. */
interface Side {
  readonly signIn: (route: 'sign up' | 'log in', body: Credentials) => Promise<Session>;
  readonly refresh: (refreshToken: string) => Promise<{ readonly status: number }>;
  readonly auth: (
    method: string,
    path: string,
    options: { readonly body?: unknown; readonly token?: string },
  ) => Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
  readonly store: () => Promise<SigningStore>;
  readonly open: () => Promise<OpenAccount<AccountRecord>>;
}

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { emailCode: true, secondFactor: 'optional' } } });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const users: Side = {
  signIn: async (route, body) => {
    const headers = { 'x-refresh-token-mode': 'header' };
    const answer = await (route === 'sign up' ? project.signUp : project.logIn)(body, headers);
    const { accessToken, refreshToken = '' } = answer.body;
    return { status: answer.status, accessToken, refreshToken };
  },
  refresh: (token) => project.refresh(token),
  auth: (method, path, options) => project.auth(method, path, options),
  store: async () => userSignIns(await domainProject(project)),
  open: async () => {
    const domain = await domainProject(project);
    const collection = await requireUsers(domain);
    return (newcomer) => createAccount(domain, collection, newcomer);
  },
};

const developers: Side = {
  signIn: async (route, body) => {
    const answer = await auth<DashboardSignIn>('POST', route === 'sign up' ? 'register' : 'login', { body });
    const refreshToken = cookieOf(answer).split('=')[1] ?? '';
    return { status: answer.status, accessToken: answer.body.data?.accessToken, refreshToken };
  },
  refresh: (token) => auth('POST', 'refresh', { headers: { cookie: `dashboard_refresh=${token}` } }),
  auth,
  store: async () => developerSignIns(),
  open: async () => openDeveloper,
};

const newPassword = 'another password';

describe.each([
  ['users of a project', users],
  ['developers', developers],
] as const)('%s', (_who, side) => {
  const newAccount = async () => {
    const credentials = newCredentials();
    return { ...credentials, ...(await side.signIn('sign up', credentials)) };
  };
  const logIn = ({ email, password }: Credentials) => side.signIn('log in', { email, password });
  const verifyFactor = (body: object) => side.auth('POST', 'second-factor/verify', { body });
  /** Creates an account with an authenticator app, and tickets of sign-ins that wait for its code. */
  const newGuarded = async () => {
    const { accessToken: token, email, password } = await newAccount();
    const begun = await side.auth('POST', 'second-factor/totp', { token });
    const { secret } = begun.body.data as { secret: string };
    const code = shownCode(secret);
    const confirmed = await side.auth('POST', 'second-factor/totp/confirm', { token, body: { code } });
    const { recoveryCodes } = confirmed.body.data as { recoveryCodes: string[] };
    const another = async () => {
      const { status, body } = await side.auth('POST', 'login', { body: { email, password } });
      expect(status).toBe(401);
      return String(body.ticket);
    };
    return { ticket: await another(), another, recoveryCodes };
  };
  const change = (token: string, currentPassword: string) =>
    side.auth('PUT', 'change-password', { token, body: { currentPassword, newPassword } });
  const statusOf = async (refreshToken: string) => (await side.refresh(refreshToken)).status;

  const stored = async (email: string) => {
    const account = await (await side.store()).find({ email });
    if (!account) throw new Error('There is no such account');
    return account;
  };
  /** Issues a token under another key, because the sign-up sent an email and the next is allowed a minute later. */
  const mailedToken = async (kind: EmailTokenKind, email: string) => {
    const place = { scope: (await side.store()).scope, kind, addressKey: addressKeyOf(`x${email}`) };
    return (await issueTokens(place, email, (await stored(email))._id.toHexString())).token;
  };
  const signInByGithub = async (email: string, id = email) => {
    const profile = { id, name: undefined, username: undefined, addresses: [{ email, verified: true }] };
    return linkAccount(await side.store(), await side.open(), requireProvider('github'), profile);
  };

  test('401 for at most five of 50 concurrent guesses, 429 for the others and then for the right password', async () => {
    const { email, password } = await newAccount();
    const guesses = await inParallel(50, (n) => logIn({ email, password: `wrong guess ${n}` }));
    expect(tally(guesses)).toEqual({ 401: 5, 429: 45 });
    expect((await logIn({ email, password })).status).toBe(429);
  });

  test('401 and 429 alike for an unknown email address', async () => {
    const { email } = newCredentials();
    const guesses = await inParallel(50, (n) => logIn({ email, password: `wrong guess ${n}` }));
    expect(tally(guesses)).toEqual({ 401: 5, 429: 45 });
  });

  test('401 for at most five of 50 concurrent guesses with a stolen access token', async () => {
    const { accessToken } = await newAccount();
    expect(tally(await inParallel(50, (n) => change(accessToken, `wrong guess ${n}`)))).toEqual({ 401: 5, 429: 45 });
  });

  test('200 for one of 50 concurrent password resets by one link, and every session ends', async () => {
    const account = await newAccount();
    const token = await mailedToken('reset', account.email);
    const body = { token, newPassword };
    expect(tally(await inParallel(50, () => side.auth('POST', 'reset-password', { body })))).toEqual({
      200: 1,
      400: 49,
    });
    expect(await statusOf(account.refreshToken)).toBe(401);
    expect((await logIn(account)).status).toBe(401);
    expect((await logIn({ email: account.email, password: newPassword })).status).toBe(200);
    expect(await stored(account.email)).toMatchObject({ emailVerified: true });
  });

  test('200 for one of 50 concurrent verifications by one link', async () => {
    const { email } = await newAccount();
    const body = { token: await mailedToken('verify', email) };
    expect(tally(await inParallel(50, () => side.auth('POST', 'verify-email', { body })))).toEqual({ 200: 1, 400: 49 });
  });

  test('400 for a verification link that is used as a reset, and the link stays valid', async () => {
    const { email } = await newAccount();
    const token = await mailedToken('verify', email);
    expect((await side.auth('POST', 'reset-password', { body: { token, newPassword } })).status).toBe(400);
    expect((await side.auth('POST', 'verify-email', { body: { token } })).status).toBe(200);
  });

  test('200 for one of 50 concurrent sign-ins by one emailed link', async () => {
    const { email } = await newAccount();
    await markVerified(await side.store(), { email });
    const body = { token: await mailedToken('code', email) };
    const answers = await inParallel(50, () => side.auth('POST', 'code/verify', { body }));
    expect(tally(answers)).toEqual({ 200: 1, 400: 49 });
  });

  test('400 for the right emailed code after five wrong ones of 50 concurrent guesses', async () => {
    const { email } = await newAccount();
    const place = { scope: (await side.store()).scope, kind: 'code', addressKey: addressKeyOf(email) } as const;
    const { code } = await issueTokens(place, email, (await stored(email))._id.toHexString());
    const verify = (typed: string) => side.auth('POST', 'code/verify', { body: { email, code: typed } });
    const guesses = await inParallel(50, (n) => verify(`AAAA-AA${'ABCDEFGHJK'[n % 10]}${'ABCDE'[Math.floor(n / 10)]}`));
    expect(tally([...guesses, await verify(code)])).toEqual({ 400: 51 });
  });

  test('200 for one of 50 concurrent sign-ins with one ticket and ten recovery codes', async () => {
    const { ticket, recoveryCodes } = await newGuarded();
    const answers = await inParallel(50, (n) => verifyFactor({ ticket, recoveryCode: recoveryCodes[n % 10] }));
    expect(tally(answers)).toEqual({ 200: 1, 401: 49 });
  });

  test('401 for the right code after five wrong ones of 50 concurrent guesses with a ticket, 429 after ten for the account', async () => {
    const { ticket, another, recoveryCodes } = await newGuarded();
    const guesses = await inParallel(50, () => verifyFactor({ ticket, recoveryCode: 'AAAA-AAAA' }));
    expect(tally(guesses)).toEqual({ 401: 50 });
    const [recoveryCode] = recoveryCodes;
    expect((await verifyFactor({ ticket, recoveryCode })).status).toBe(401);
    const second = await another();
    expect(tally(await inParallel(5, () => verifyFactor({ ticket: second, code: '000000' })))).toEqual({ 401: 5 });
    expect((await verifyFactor({ ticket: await another(), recoveryCode })).status).toBe(429);
  });

  test('401 for every session except the one that changes the password', async () => {
    const account = await newAccount();
    const elsewhere = await logIn(account);
    expect((await change(account.accessToken, account.password)).status).toBe(200);
    expect(await statusOf(elsewhere.refreshToken)).toBe(401);
    expect(await statusOf(account.refreshToken)).toBe(200);
    expect((await logIn(account)).status).toBe(401);
  });

  test('401 for password and session of a squatter after the owner of the address signs in with GitHub', async () => {
    const squatter = await newAccount();
    expect(await signInByGithub(squatter.email)).toMatchObject({
      isNew: false,
      linkedByEmail: true,
      account: { emailVerified: true, hasPassword: false, identities: [{ provider: 'github' }] },
    });
    expect((await logIn(squatter)).status).toBe(401);
    expect(await statusOf(squatter.refreshToken)).toBe(401);
  });

  test('200 for password and session of a verified address after a GitHub sign-in with it', async () => {
    const account = await newAccount();
    await markVerified(await side.store(), { email: account.email });
    expect(await signInByGithub(account.email)).toMatchObject({ linkedByEmail: true });
    expect((await logIn(account)).status).toBe(200);
    expect(await statusOf(account.refreshToken)).toBe(200);
  });

  test('200 for one account after 50 concurrent first sign-ins with GitHub', async () => {
    const { email } = newCredentials();
    const linked = await inParallel(50, () => signInByGithub(email));
    expect(new Set(linked.map(({ account }) => account._id.toHexString())).size).toBe(1);
    expect(linked.filter(({ isNew }) => isNew)).toHaveLength(1);
  });

  test('200 for one of 50 concurrent refreshes with one token', async () => {
    const { refreshToken } = await newAccount();
    expect(tally(await inParallel(50, () => side.refresh(refreshToken)))).toEqual({ 200: 1, 401: 49 });
  });

  test('401 for the session of a refresh token that is used again after more than ten seconds', async () => {
    const { refreshToken } = await newAccount();
    const store = await side.store();
    const client = { ip: '192.0.2.1', userAgent: 'test' };
    const next = await refresh(store, refreshToken, client);
    const now = clock.now();
    vi.spyOn(clock, 'now').mockReturnValue(now + 11_000);
    await expect(refresh(store, refreshToken, client)).rejects.toMatchObject({ code: 'REFRESH_TOKEN_INVALID' });
    vi.restoreAllMocks();
    expect(await statusOf(next.refreshToken)).toBe(401);
  });
});
