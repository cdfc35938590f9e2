import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { requireAccount } from '../../../shared/accounts/account-store.ts';
import { addressKeyOf, issueTokens } from '../../../shared/accounts/email-tokens.ts';
import { codeAt, useFactor } from '../../../shared/accounts/second-factor.ts';
import { sha256 } from '../../../shared/accounts/single-use-secrets.ts';
import { userAccounts } from '../../../shared/accounts/users/users.ts';
import { clock } from '../../../shared/core/clock.ts';
import { itemKey, projectScope } from '../../../shared/persistence/item-keys.ts';
import * as kinds from '../../../shared/persistence/table-keys.ts';
import { bytesOf, shownCode } from '../../support/clients/authenticator.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { newSocialProject, signInWith } from '../../support/clients/social.ts';
import { expire } from '../../support/fixtures/items.ts';
import { changeStoredUsers, changesOf, domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import { ageSession, claimsOf, newUsersProject, type SignIn, type UsersProject } from '../../support/fixtures/users.ts';

const settings = { signIn: { emailCode: true, anonymous: true, secondFactor: 'optional' } };
const inHeader = { 'x-refresh-token-mode': 'header' };
const invalid = { status: 401, body: { code: 'INVALID_SECOND_FACTOR' } };
const reauthentication = { status: 403, body: { code: 'REAUTHENTICATION_REQUIRED' } };

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings });
});

afterEach(() => {
  vi.restoreAllMocks();
});

interface Totp {
  readonly data: { readonly secret: string; readonly uri: string };
}
interface Codes {
  readonly data: { readonly recoveryCodes: readonly string[] };
}

const start = (token: string) => project.auth<Totp>('POST', 'second-factor/totp', { token });
const confirm = (token: string, code: string) =>
  project.auth<Codes>('POST', 'second-factor/totp/confirm', { token, body: { code } });
const renew = (token: string, body: object) =>
  project.auth<Codes>('POST', 'second-factor/recovery-codes', { token, body });
const remove = (token: string, body: object) => project.auth('DELETE', 'second-factor/totp', { token, body });
const verify = (body: object) => project.auth<SignIn>('POST', 'second-factor/verify', { body, headers: inHeader });

/** A user with an authenticator app, and the last accepted code. */
const newGuarded = async () => {
  const user = await project.newUser();
  const { secret } = (await start(user.token)).body.data;
  const usedCode = shownCode(secret);
  const { recoveryCodes } = (await confirm(user.token, usedCode)).body.data;
  return { ...user, secret, usedCode, recoveryCodes };
};

const ticketFor = async (user: { readonly email: string; readonly password: string }): Promise<string> => {
  const answer = await project.logIn(user);
  expect(answer).toMatchObject({ status: 401, body: { code: 'SECOND_FACTOR_REQUIRED' }, cookies: [] });
  return String((answer.body as unknown as { ticket: string }).ticket);
};

/** Sequential, because passwords count as wrong until they are checked. */
const ticketsFor = async (user: Parameters<typeof ticketFor>[0], count: number): Promise<readonly string[]> => {
  const tickets: string[] = [];
  while (tickets.length < count) tickets.push(await ticketFor(user));
  return tickets;
};

/** Moves the start of a session back. */
const age = ({ accessToken }: SignIn, minutes: number): Promise<void> =>
  ageSession(projectScope(project.id), accessToken, minutes);

describe('new recovery codes', () => {
  const notFound = { status: 404, body: { code: 'SECOND_FACTOR_NOT_FOUND' } };

  test('200 with ten, by a code of the app or a recovery code; old ones are invalid and other sessions end', async () => {
    const user = await newGuarded();
    const ticket = await ticketFor(user);
    const elsewhere = await verify({ ticket, recoveryCode: user.recoveryCodes[0] });
    const answer = await renew(user.token, { code: shownCode(user.secret, 1) });
    expect(answer.status).toBe(200);
    const { recoveryCodes } = answer.body.data;
    expect(new Set([...recoveryCodes, ...user.recoveryCodes]).size).toBe(20);
    const kept = JSON.stringify(await storedUsers(project, { email: user.email }));
    for (const code of recoveryCodes) expect(kept).not.toContain(code);
    expect((await project.refresh(elsewhere.body.refreshToken)).status).toBe(401);
    expect((await project.refresh(user.refreshToken)).status).toBe(200);
    const later = await ticketFor(user);
    expect(await verify({ ticket: later, recoveryCode: user.recoveryCodes[1] })).toMatchObject(invalid);
    expect((await verify({ ticket: later, recoveryCode: recoveryCodes[0] })).status).toBe(200);
    expect(await renew(user.token, { recoveryCode: user.recoveryCodes[2] })).toMatchObject(invalid);
    expect((await renew(user.token, { recoveryCode: recoveryCodes[1] })).status).toBe(200);
  });

  test('200 for one of 50 concurrent requests, whose codes are valid', async () => {
    const user = await newGuarded();
    const [first] = user.recoveryCodes;
    const same = await inParallel(50, () => renew(user.token, { recoveryCode: first }));
    expect(tally(same)).toMatchObject({ 200: 1 });
    const others = await newGuarded();
    const each = await inParallel(10, (n) => renew(others.token, { recoveryCode: others.recoveryCodes[n] }));
    expect(tally(each)).toEqual({ 200: 1, 401: 9 });
    const given = each.find(({ status }) => status === 200)?.body.data.recoveryCodes ?? [];
    const ticket = await ticketFor(others);
    expect((await verify({ ticket, recoveryCode: given[0] })).status).toBe(200);
  });

  test('401 INVALID_SECOND_FACTOR for a wrong code, and 429 ACCOUNT_LOCKED after ten', async () => {
    const user = await newGuarded();
    const guesses = await inParallel(12, () => renew(user.token, { code: '000000' }));
    expect(tally(guesses)).toEqual({ 401: 10, 429: 2 });
    expect(await renew(user.token, { recoveryCode: user.recoveryCodes[0] })).toMatchObject({
      status: 429,
      body: { code: 'ACCOUNT_LOCKED' },
    });
  });

  test('404 SECOND_FACTOR_NOT_FOUND without an app, 400 without a code', async () => {
    const { token } = await project.newUser();
    expect(await renew(token, { code: '000000' })).toMatchObject(notFound);
    expect(await renew(token, {})).toMatchObject({ status: 400, body: { code: 'INVALID_BODY' } });
  });

  test('403 REAUTHENTICATION_REQUIRED ten minutes after the sign-in, 401 TOKEN_INVALID with an ended session', async () => {
    const user = await newGuarded();
    await age(user, 11);
    expect(await renew(user.token, { recoveryCode: user.recoveryCodes[0] })).toMatchObject(reauthentication);
    const other = await newGuarded();
    await project.auth('POST', 'logout', { headers: { 'x-refresh-token': other.refreshToken } });
    expect(await renew(other.token, { recoveryCode: other.recoveryCodes[0] })).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_INVALID' },
    });
  });
});

describe('setting up an authenticator app', () => {
  test('200 with a secret, then ten recovery codes once; both are stored sealed or hashed, and other sessions end', async () => {
    const user = await project.newUser();
    const other = await project.logIn(user, inHeader);
    const begun = await start(user.token);
    expect(begun).toMatchObject({ status: 200, body: { data: { secret: expect.stringMatching(/^[A-Z2-7]{32}$/) } } });
    const { secret, uri } = begun.body.data;
    expect(uri).toMatch(new RegExp(`^otpauth://totp/.*secret=${secret}`));
    expect((await project.logIn(user)).status).toBe(200);
    const done = await confirm(user.token, shownCode(secret));
    expect(done.status).toBe(200);
    const { recoveryCodes } = done.body.data;
    expect(new Set(recoveryCodes).size).toBe(10);
    const kept = JSON.stringify(await storedUsers(project, { email: user.email }));
    for (const text of [secret, bytesOf(secret).toString('base64url'), ...recoveryCodes])
      expect(kept).not.toContain(text);
    expect((await project.refresh(user.refreshToken)).status).toBe(200);
    expect((await project.refresh(other.body.refreshToken)).status).toBe(401);
    expect(JSON.stringify((await project.auth('GET', 'me', { token: user.token })).body)).not.toContain('_signIn');
  });

  test('401 for a wrong code and without a started setup; sign-in stays unchanged', async () => {
    const user = await project.newUser();
    const saying = (message: string) => ({ status: 401, body: { code: 'INVALID_SECOND_FACTOR', message } });
    const none = saying('No authenticator app is being set up. Start again.');
    expect(await confirm(user.token, '000000')).toMatchObject(none);
    const { secret } = (await start(user.token)).body.data;
    const wrong = saying('The code is wrong or was used already.');
    expect(await confirm(user.token, shownCode(secret, 5))).toMatchObject(wrong);
    expect((await project.logIn(user)).status).toBe(200);
  });

  test('400 without code and recovery code, naming the fields', async () => {
    const { token } = await project.newUser();
    const missing = { status: 400, body: { code: 'INVALID_BODY', message: 'Send a code or a recoveryCode.' } };
    expect(await remove(token, {})).toMatchObject(missing);
    expect(await verify({ ticket: 'x' })).toMatchObject(missing);
  });

  test('200 for one of eight concurrent confirmations', async () => {
    const user = await project.newUser();
    const { secret } = (await start(user.token)).body.data;
    const answers = await inParallel(8, () => confirm(user.token, shownCode(secret)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('409 SECOND_FACTOR_EXISTS when there is one, 404 when there is none to remove', async () => {
    const user = await newGuarded();
    expect(await start(user.token)).toMatchObject({ status: 409, body: { code: 'SECOND_FACTOR_EXISTS' } });
    const none = await project.newUser();
    expect(await remove(none.token, { code: '000000' })).toMatchObject({
      status: 404,
      body: { code: 'SECOND_FACTOR_NOT_FOUND' },
    });
  });

  test('403 REAUTHENTICATION_REQUIRED over ten minutes after the sign-in, also after a refresh', async () => {
    const user = await newGuarded();
    const plain = await project.newUser();
    await Promise.all([age(user, 11), age(plain, 11)]);
    const { body } = await project.refresh(plain.refreshToken);
    expect(await start(body.accessToken)).toMatchObject(reauthentication);
    expect(await confirm(body.accessToken, '000000')).toMatchObject(reauthentication);
    expect(await remove(user.token, { recoveryCode: user.recoveryCodes[0] })).toMatchObject(reauthentication);
    const change = { currentPassword: user.password, newPassword: 'another password' };
    const changing = { token: user.token, body: change };
    expect(await project.auth('PUT', 'change-password', changing)).toMatchObject(reauthentication);
    await age(user, 9);
    expect((await project.auth('PUT', 'change-password', changing)).status).toBe(200);
  });

  test('403 REAUTHENTICATION_REQUIRED for a first password long after the sign-in', async () => {
    const user = await project.newUser();
    await changeStoredUsers(project, { email: user.email }, { hasPassword: false });
    await age(user, 11);
    const changing = { token: user.token, body: { newPassword: 'another password' } };
    expect(await project.auth('PUT', 'change-password', changing)).toMatchObject(reauthentication);
  });

  test('200 for the first password of an anonymous user', async () => {
    const { body: anonymous } = await project.auth<SignIn>('POST', 'anonymous');
    await age(anonymous, 11);
    const changing = { token: anonymous.accessToken, body: { newPassword: 'another password' } };
    expect(await project.auth('PUT', 'change-password', changing)).toMatchObject({ status: 200 });
  });

  test('403 SIGN_IN_DISABLED when it is off; existing ones still work and can be removed', async () => {
    const off = await newUsersProject({ settings });
    const user = await off.newUser();
    const { body } = await off.auth<Totp>('POST', 'second-factor/totp', { token: user.token });
    const code = shownCode(body.data.secret);
    const confirming = { token: user.token, body: { code } };
    const done = await off.auth<Codes>('POST', 'second-factor/totp/confirm', confirming);
    await off.developer.dashboard('PATCH', `/api/projects/${off.id}`, { signIn: { secondFactor: 'off' } });
    const refused = { status: 403, body: { code: 'SIGN_IN_DISABLED' } };
    expect(await off.auth('POST', 'second-factor/totp', { token: user.token })).toMatchObject(refused);
    expect(await off.auth('POST', 'second-factor/totp/confirm', confirming)).toMatchObject(refused);
    expect(await off.logIn(user)).toMatchObject({ status: 401, body: { code: 'SECOND_FACTOR_REQUIRED' } });
    const renewing = { token: user.token, body: { recoveryCode: done.body.data.recoveryCodes[0] } };
    const renewed = await off.auth<Codes>('POST', 'second-factor/recovery-codes', renewing);
    const removing = { token: user.token, body: { recoveryCode: renewed.body.data.recoveryCodes[0] } };
    expect((await off.auth('DELETE', 'second-factor/totp', removing)).status).toBe(200);
    expect((await off.logIn(user)).status).toBe(200);
  });
});

describe('signing in with a second factor', () => {
  test('200 with the next code, once; amr has both methods, and a refresh keeps them', async () => {
    const user = await newGuarded();
    const ticket = await ticketFor(user);
    expect(await verify({ ticket, code: user.usedCode })).toMatchObject(invalid);
    const answer = await verify({ ticket, code: shownCode(user.secret, 1) });
    expect(answer).toMatchObject({ status: 200, body: { userId: user.userId } });
    expect(claimsOf(answer.body.accessToken).amr).toEqual(['pwd', 'totp', 'mfa']);
    const refreshed = await project.refresh(answer.body.refreshToken);
    expect(claimsOf(refreshed.body.accessToken).amr).toEqual(['pwd', 'totp', 'mfa']);
    expect(await verify({ ticket, recoveryCode: user.recoveryCodes[0] })).toMatchObject(invalid);
  });

  test('200 with a recovery code, once', async () => {
    const user = await newGuarded();
    const recoveryCode = user.recoveryCodes[3]?.toLowerCase().replace('-', ' ');
    const answer = await verify({ ticket: await ticketFor(user), recoveryCode });
    expect(claimsOf(answer.body.accessToken).amr).toEqual(['pwd', 'recovery', 'mfa']);
    expect(await verify({ ticket: await ticketFor(user), recoveryCode })).toMatchObject(invalid);
  });

  test('200 is no change of the user for webhooks', async () => {
    const user = await newGuarded();
    const before = await changesOf(project, user);
    for (const proof of [{ code: shownCode(user.secret, 1) }, { recoveryCode: user.recoveryCodes[0] }])
      expect(await verify({ ticket: await ticketFor(user), ...proof })).toMatchObject({ status: 200 });
    expect(await changesOf(project, user)).toEqual(before);
  });

  test('401 also after an emailed code, which is used then', async () => {
    const user = await newGuarded();
    await changeStoredUsers(project, { email: user.email }, { emailVerified: true });
    const place = { scope: projectScope(project.id), kind: 'code', addressKey: addressKeyOf(user.email) } as const;
    const { token } = await issueTokens(place, user.email, user.userId);
    const byCode = () => project.auth<{ ticket: string }>('POST', 'code/verify', { body: { token } });
    const first = await byCode();
    expect(first).toMatchObject({ status: 401, body: { code: 'SECOND_FACTOR_REQUIRED' } });
    expect(await byCode()).toMatchObject({ status: 400, body: { code: 'INVALID_CODE' } });
    const answer = await verify({ ticket: first.body.ticket, recoveryCode: user.recoveryCodes[0] });
    expect(claimsOf(answer.body.accessToken).amr).toEqual(['email', 'recovery', 'mfa']);
  });

  test('200 for one of 50 concurrent requests: one ticket and code, one ticket and ten codes, or ten tickets and one code', async () => {
    const alone = async (bodies: (user: Awaited<ReturnType<typeof newGuarded>>) => Promise<readonly object[]>) => {
      const all = await bodies(await newGuarded());
      const answers = await inParallel(50, (n) => verify(all[n % all.length] ?? {}));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    };
    await alone(async (user) => [{ ticket: await ticketFor(user), recoveryCode: user.recoveryCodes[0] }]);
    await alone(async (user) => {
      const ticket = await ticketFor(user);
      return user.recoveryCodes.map((recoveryCode) => ({ ticket, recoveryCode }));
    });
    await alone(async (user) => {
      const code = shownCode(user.secret, 1);
      const tickets = await ticketsFor(user, 10);
      return tickets.map((ticket) => ({ ticket, code }));
    });
    await alone(async (user) => {
      const tickets = await ticketsFor(user, 10);
      return tickets.map((ticket) => ({ ticket, recoveryCode: user.recoveryCodes[0] }));
    });
  });

  test('401 for the right code after five wrong ones of 50 concurrent guesses with a ticket', async () => {
    const user = await newGuarded();
    const ticket = await ticketFor(user);
    const guesses = await inParallel(50, (n) => verify({ ticket, code: String(n).padStart(6, '0') }));
    expect(guesses.every(({ status }) => status === 401)).toBe(true);
    expect(await verify({ ticket, recoveryCode: user.recoveryCodes[0] })).toMatchObject(invalid);
    expect((await verify({ ticket: await ticketFor(user), recoveryCode: user.recoveryCodes[0] })).status).toBe(200);
  });

  test('429 ACCOUNT_LOCKED after ten wrong codes over all tickets and removals, also for the right one', async () => {
    const user = await newGuarded();
    const tickets = await ticketsFor(user, 4);
    const guesses = await inParallel(16, (n) => verify({ ticket: tickets[n % 4], recoveryCode: 'AAAA-AAAA' }));
    expect(tally(guesses)).toEqual({ 401: 10, 429: 6 });
    const right = { recoveryCode: user.recoveryCodes[0] };
    const locked = { status: 429, body: { code: 'ACCOUNT_LOCKED' } };
    expect(await verify({ ticket: await ticketFor(user), ...right })).toMatchObject(locked);
    expect(await remove(user.token, right)).toMatchObject(locked);
  });

  test('401 for a malformed ticket, one of another project, and one from before a password change', async () => {
    const user = await newGuarded();
    const elsewhere = await newUsersProject({ settings });
    const ticket = await ticketFor(user);
    const right = { recoveryCode: user.recoveryCodes[0] };
    expect(await verify({ ticket: 'A'.repeat(43), ...right })).toMatchObject(invalid);
    expect(await verify({ ticket: '', ...right })).toMatchObject(invalid);
    expect(await elsewhere.auth('POST', 'second-factor/verify', { body: { ticket, ...right } })).toMatchObject(invalid);
    const body = { currentPassword: user.password, newPassword: 'another password' };
    expect((await project.auth('PUT', 'change-password', { token: user.token, body })).status).toBe(200);
    expect(await verify({ ticket, ...right })).toMatchObject(invalid);
  });

  test('401 for a ticket older than five minutes, which uses no code', async () => {
    const user = await newGuarded();
    const ticket = await ticketFor(user);
    const right = { recoveryCode: user.recoveryCodes[0] };
    await expire(itemKey(kinds.ticket, projectScope(project.id), { hash: sha256(ticket) }));
    expect(await verify({ ticket, ...right })).toMatchObject(invalid);
    expect(await verify({ ticket: await ticketFor(user), ...right })).toMatchObject({ status: 200 });
  });

  test('has its ticket in the fragment of a provider’s return, without token and rtCode', async () => {
    const social = await newSocialProject({ settings });
    const asUser = { key: social.publishableKey, headers: inHeader };
    const { token } = await signInWith(social, 'github', 'ada');
    const path = '/api/userAuth/second-factor';
    const begun = await social.api<{ data: { secret: string } }>('POST', `${path}/totp`, { ...asUser, token });
    const done = await social.api<{ data: { recoveryCodes: string[] } }>('POST', `${path}/totp/confirm`, {
      ...asUser,
      token,
      body: { code: shownCode(begun.body.data.secret) },
    });
    const { url } = await signInWith(social, 'github', 'ada');
    const [, ticket = ''] = /^#ticket=([\w-]+)$/.exec(url.hash) ?? [];
    expect([...url.searchParams.keys()]).toEqual(['provider']);
    const body = { ticket, recoveryCode: done.body.data.recoveryCodes[0] };
    const answer = await social.api<SignIn>('POST', `${path}/verify`, { ...asUser, body });
    expect(answer.status).toBe(200);
    expect(claimsOf(answer.body.accessToken).amr).toEqual(['github', 'recovery', 'mfa']);
  });

  test('401 INVALID_CREDENTIALS for a wrong password, as without a second factor', async () => {
    const { email } = await newGuarded();
    expect(await project.logIn({ email, password: 'not the password' })).toMatchObject({
      status: 401,
      body: { code: 'INVALID_CREDENTIALS' },
    });
  });
});

describe('a used code, and clocks that differ', () => {
  test('401 for an accepted code, an earlier one, and one more than a step away', async () => {
    const user = await newGuarded();
    const store = userAccounts(await domainProject(project));
    const step = Math.floor(Date.now() / 30_000) + 10;
    vi.spyOn(clock, 'now').mockReturnValue(step * 30_000);
    const use = async (at: number) => {
      const account = await requireAccount(store, user.userId);
      return useFactor(store, account, { code: codeAt(bytesOf(user.secret), at) });
    };
    expect([await use(step - 2), await use(step + 2)]).toEqual([undefined, undefined]);
    expect([await use(step), await use(step), await use(step - 1)]).toEqual(['totp', undefined, undefined]);
    expect([await use(step + 1), await use(step + 1)]).toEqual(['totp', undefined]);
  });

  test('200 for one of nine concurrent uses of a code', async () => {
    const user = await newGuarded();
    const store = userAccounts(await domainProject(project));
    const step = Math.floor(Date.now() / 30_000) + 10;
    vi.spyOn(clock, 'now').mockReturnValue(step * 30_000);
    const account = await requireAccount(store, user.userId);
    const code = codeAt(bytesOf(user.secret), step);
    const used = await inParallel(9, () => useFactor(store, account, { code }));
    expect(used.filter(Boolean)).toEqual(['totp']);
  });
});

describe('an account that another person created with the address', () => {
  test('200 by code; the other person’s second factor is removed', async () => {
    const attacker = await newGuarded();
    const place = { scope: projectScope(project.id), kind: 'code', addressKey: addressKeyOf(attacker.email) } as const;
    const { token } = await issueTokens(place, attacker.email, attacker.userId);
    expect((await project.auth('POST', 'code/verify', { body: { token } })).status).toBe(200);
    const [stored] = await storedUsers(project, { _id: new ObjectId(attacker.userId) });
    expect(stored?._signIn).toEqual({ devices: ['node'] });
  });
});
