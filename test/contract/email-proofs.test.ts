import { randomInt } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import type { AccountRecord, AccountStore } from '../../shared/accounts/account-store.ts';
import { developerAccounts } from '../../shared/accounts/developers/developers.ts';
import { addressKeyOf, changeKeyOf, type EmailTokenKind, issueTokens } from '../../shared/accounts/email-tokens.ts';
import { linkAccount, linkToCurrentUser } from '../../shared/accounts/social/link.ts';
import { requireProvider, type SocialProfile } from '../../shared/accounts/social/providers.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { clock } from '../../shared/core/clock.ts';
import { shownCode } from '../support/clients/authenticator.ts';
import { call, cookieOf } from '../support/clients/client.ts';
import { auth, guardDeveloper, logIn, refresh } from '../support/fixtures/developers.ts';
import { idOf, invitationFor, newPersonalToken } from '../support/fixtures/members.ts';
import { developerPasskeys, passkeySettings, passkeysOf } from '../support/fixtures/passkeys.ts';
import { newProject, newUnverified } from '../support/fixtures/project.ts';
import { domainProject } from '../support/fixtures/stored-users.ts';
import { claimsOf, newCredentials, newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

type Ways = Readonly<Record<string, boolean>>;

/** An account with an unverified address, and the credentials of the person who opened it. */
interface Opened {
  readonly email: string;
  readonly id: string;
  readonly accessToken: string;
  /** Returns whether each sign-in method still works. `email` is the current address. */
  readonly waysIn: (email?: string) => Promise<Ways>;
}

interface Kind {
  readonly store: () => Promise<AccountStore>;
  readonly open: () => Promise<Opened>;
  readonly post: (path: string, body: object, token?: string) => Promise<{ readonly status: number }>;
}

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings: passkeySettings });
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Returns a GitHub profile with this address. */
const atGitHub = (email: string): SocialProfile => ({
  id: String(randomInt(1, 2 ** 47)),
  name: undefined,
  username: undefined,
  addresses: [{ email, verified: true }],
});

/** Signs in with GitHub and returns the id of the account. It creates no account. */
const enterByGitHub = async (store: AccountStore, profile: SocialProfile): Promise<string | undefined> =>
  linkAccount(store, async () => undefined, requireProvider('github'), profile).then(
    ({ account }) => account._id.toHexString(),
    () => undefined,
  );

/** Links a GitHub profile with another address to the account of a session. */
const linkGitHub = async (store: AccountStore, accessToken: string): Promise<SocialProfile> => {
  const profile = atGitHub(newCredentials().email);
  const { sub, sid } = claimsOf(accessToken);
  const bearer = { userId: String(sub), sessionId: String(sid) };
  await linkToCurrentUser(store, requireProvider('github'), profile, bearer);
  return profile;
};

const signInState = async (store: AccountStore, id: string): Promise<NonNullable<AccountRecord['_signIn']>> =>
  (await store.find({ _id: new ObjectId(id) }))?._signIn ?? {};

/** True if a password was accepted, also when a second factor is required next. */
const isAccepted = ({ status, body }: { readonly status: number; readonly body: { readonly code?: string } }) =>
  status === 200 || body.code === 'SECOND_FACTOR_REQUIRED';

const users: Kind = {
  store: async () => userAccounts(await domainProject(project)),
  open: async () => {
    const user = await project.newUser();
    const { password, userId: id, accessToken, refreshToken } = user;
    const store = await users.store();
    const { add, signIn } = passkeysOf(project);
    const passkey = await add(accessToken);
    const identity = await linkGitHub(store, accessToken);
    const options = { token: accessToken };
    const begun = await project.auth<{ data: { secret: string } }>('POST', 'second-factor/totp', options);
    const body = { code: shownCode(begun.body.data.secret) };
    expect(await project.auth('POST', 'second-factor/totp/confirm', { ...options, body })).toMatchObject({
      status: 200,
    });
    await store.note({ _id: new ObjectId(id) }, { $set: { '_signIn.newEmail': newCredentials().email } });
    return {
      email: user.email,
      id,
      accessToken,
      waysIn: async (email = user.email) => ({
        session: (await project.refresh(refreshToken)).status === 200,
        password: isAccepted(await project.logIn({ email, password })),
        passkey: (await signIn(passkey)).status === 200,
        identity: (await enterByGitHub(store, identity)) === id,
        'second factor': (await signInState(store, id)).totp !== undefined,
        'change of address': (await signInState(store, id)).newEmail !== undefined,
      }),
    };
  },
  post: (path, body, token) => project.auth('POST', path, { body, ...(token !== undefined && { token }) }),
};

const developers: Kind = {
  store: async () => developerAccounts,
  open: async () => {
    const developer = await newUnverified();
    const id = await idOf(developer);
    const { token } = await newPersonalToken(developer, ['projects:read']);
    const entered = await logIn(developer.email, developer.password);
    const cookie = cookieOf(entered);
    const { accessToken } = entered.body.data;
    const store = await developers.store();
    const { add, signIn } = developerPasskeys();
    const passkey = await add(accessToken);
    const identity = await linkGitHub(store, accessToken);
    await guardDeveloper(accessToken);
    return {
      email: developer.email,
      id,
      accessToken,
      waysIn: async (email = developer.email) => ({
        session: (await refresh(cookie)).status === 200,
        password: isAccepted(await logIn(email, developer.password)),
        passkey: (await signIn(passkey)).status === 200,
        identity: (await enterByGitHub(store, identity)) === id,
        'second factor': (await signInState(store, id)).totp !== undefined,
        token: (await call(inject('stack').dashboardUrl, 'GET', '/api/projects', { token })).status === 200,
      }),
    };
  },
  post: (path, body, token) => auth('POST', path, { body, ...(token !== undefined && { token }) }),
};

let ahead = 0;

/**
 * Returns the token and code of an email to the address. The clock moves by more than a minute, because an address gets
 * at most one email a minute.
 */
const mailed = async ({ store }: Kind, kind: EmailTokenKind, { email, id }: Opened) => {
  const { scope } = await store();
  ahead += 61_000;
  const mock = vi.spyOn(clock, 'now').mockReturnValue(clock.now() + ahead);
  const issued = await issueTokens({ scope, kind, addressKey: addressKeyOf(email) }, email, id);
  mock.mockRestore();
  if (!issued.isGood) throw new Error('A mail was sent less than a minute ago');
  return issued;
};

type Act = (of: Kind, opened: Opened, token: string | undefined) => Promise<{ readonly status: number }>;

/** Proofs of an address. With `ownKeeps`, all sign-in methods keep working when the account’s own session sends it. */
const proofs: Readonly<Record<string, { readonly act: Act; readonly ownKeeps: boolean }>> = {
  'the link to verify': {
    ownKeeps: true,
    act: async (of, opened, token) =>
      of.post('verify-email', { token: (await mailed(of, 'verify', opened)).token }, token),
  },
  'the code to verify': {
    ownKeeps: true,
    act: async (of, opened, token) => {
      const { code: otp } = await mailed(of, 'verify', opened);
      return of.post('verify-email', { email: opened.email, otp }, token);
    },
  },
  'the link to sign in': {
    ownKeeps: false,
    act: async (of, opened, token) =>
      of.post('code/verify', { token: (await mailed(of, 'code', opened)).token }, token),
  },
  'the code to sign in': {
    ownKeeps: false,
    act: async (of, opened, token) => {
      const { code } = await mailed(of, 'code', opened);
      return of.post('code/verify', { email: opened.email, code }, token);
    },
  },
  'a password reset': {
    ownKeeps: false,
    act: async (of, opened, token) => {
      const proof = await mailed(of, 'reset', opened);
      return of.post('reset-password', { token: proof.token, newPassword: 'of its owner' }, token);
    },
  },
  'a provider that vouches for it': {
    ownKeeps: false,
    act: async (of, opened, token) => {
      const begunBy = token === undefined ? undefined : String(claimsOf(token).sub);
      const open = async () => undefined;
      const [store, profile] = [await of.store(), atGitHub(opened.email)];
      const { account } = await linkAccount(store, open, requireProvider('github'), profile, begunBy);
      expect(account._id.toHexString()).toBe(opened.id);
      return { status: 200 };
    },
  },
};

const kinds = { users, developers } as const;
const sessions = ['own session', 'no session', "another account's session"] as const;

const cases = Object.entries(kinds).flatMap(([accounts, of]) =>
  Object.entries(proofs).flatMap(([name, proof]) =>
    sessions.map((session) => ({ accounts, of, name, proof, session })),
  ),
);

const all = (ways: Readonly<Record<string, boolean>>, works: boolean) =>
  Object.fromEntries(Object.keys(ways).map((way) => [way, works]));

describe('an unverified email address', () => {
  test.each(cases)('200 for $accounts, $name, $session', async ({ of, proof, session }) => {
    const opened = await of.open();
    const token =
      session === 'no session'
        ? undefined
        : session === 'own session'
          ? opened.accessToken
          : (await of.open()).accessToken;
    expect(await proof.act(of, opened, token)).toMatchObject({ status: 200 });
    const ways = await opened.waysIn();
    expect(ways).toEqual(all(ways, session === 'own session' && proof.ownKeeps));
  });
});

describe('a change of the email address', () => {
  /** Returns the new address and the token that is sent to it. */
  const asked = async ({ id }: Opened) => {
    const [{ scope, note }, email] = [await users.store(), newCredentials().email];
    await note({ _id: new ObjectId(id) }, { $set: { '_signIn.newEmail': email } });
    const { token } = await issueTokens({ scope, kind: 'change', addressKey: changeKeyOf(id, email) }, email, id);
    return { email, token };
  };

  test('200 for the own session, and all sign-in methods keep working except the used token', async () => {
    const opened = await users.open();
    const { email, token } = await asked(opened);
    expect(await users.post('change-email', { token }, opened.accessToken)).toMatchObject({ status: 200 });
    const ways = await opened.waysIn(email);
    expect(ways).toEqual({ ...all(ways, true), 'change of address': false });
  });

  test.each([
    ['401', 'no session', async () => undefined],
    ['400', "another account's session", async () => (await users.open()).accessToken],
  ])('%s for %s, and all sign-in methods keep working', async (status, _session, tokenOf) => {
    const opened = await users.open();
    const { token } = await asked(opened);
    expect(await users.post('change-email', { token }, await tokenOf())).toMatchObject({ status: Number(status) });
    const ways = await opened.waysIn();
    expect(ways).toEqual(all(ways, true));
  });
});

describe('an invitation of a developer', () => {
  const otherDeveloper = async () => (await developers.open()).accessToken;

  test.each([
    ['200', 'the own session', async (own: string) => own],
    ['401', 'no session', async () => undefined],
    ['404', "another account's session", otherDeveloper],
  ])('%s for %s, and all sign-in methods keep working', async (status, _session, tokenOf) => {
    const opened = await developers.open();
    const body = { token: await invitationFor(await newProject(), opened.email, 'viewer') };
    const token = await tokenOf(opened.accessToken);
    const options = { body, ...(token !== undefined && { token }) };
    const answer = await call(inject('stack').dashboardUrl, 'POST', '/api/invitations/accept', options);
    expect(answer).toMatchObject({ status: Number(status) });
    const ways = await opened.waysIn();
    expect(ways).toEqual(all(ways, true));
  });
});

describe.each(Object.entries(kinds))('verify-email of %s', (_name, of) => {
  const proofOf = async (opened: Opened) => ({ token: (await mailed(of, 'verify', opened)).token });

  test('200 and all sign-in methods keep working when the address was verified before', async () => {
    const opened = await of.open();
    await of.post('verify-email', await proofOf(opened), opened.accessToken);
    expect(await of.post('verify-email', await proofOf(opened))).toMatchObject({
      status: 200,
      body: { message: 'Email verified' },
    });
    const ways = await opened.waysIn();
    expect(ways).toEqual(all(ways, true));
  });

  test('200 and a usable account when the address is proved without a session', async () => {
    const opened = await of.open();
    expect(await of.post('verify-email', await proofOf(opened))).toMatchObject({
      status: 200,
      body: { message: expect.stringMatching(/Reset the password/) },
    });
    const { code } = await mailed(of, 'code', opened);
    expect(await of.post('code/verify', { email: opened.email, code })).toMatchObject({ status: 200 });
  });

  test('401 for an invalid access token, and the proof stays valid', async () => {
    const opened = await of.open();
    const proof = await proofOf(opened);
    expect(await of.post('verify-email', proof, 'x.y.z')).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_INVALID' },
    });
    expect((await of.post('verify-email', proof, opened.accessToken)).status).toBe(200);
  });

  test('401 for an ended session, and the proof stays valid', async () => {
    const opened = await of.open();
    const proof = await proofOf(opened);
    const { token } = await mailed(of, 'code', opened);
    expect((await of.post('code/verify', { token })).status).toBe(200);
    expect(await of.post('verify-email', proof, opened.accessToken)).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_INVALID' },
    });
    expect((await of.post('verify-email', proof)).status).toBe(200);
  });
});
