import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { addressKeyOf, type EmailTokenKind, issueTokens } from '../../shared/accounts/email-tokens.ts';
import type { SessionScope } from '../../shared/accounts/sessions.ts';
import { clock } from '../../shared/core/clock.ts';
import { developerScope, projectScope } from '../../shared/persistence/item-keys.ts';
import { call, cookieOf } from '../support/clients/client.ts';
import { auth, logIn, refresh } from '../support/fixtures/developers.ts';
import { idOf, newPersonalToken } from '../support/fixtures/members.ts';
import { newUnverified } from '../support/fixtures/project.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

/** An account that nobody has verified, and what whoever opened it signs in with. */
interface Opened {
  readonly email: string;
  readonly id: string;
  readonly accessToken: string;
  /** Whether each way in that was left still works. */
  readonly waysIn: () => Promise<Readonly<Record<string, boolean>>>;
}

interface Kind {
  readonly scope: () => SessionScope;
  readonly open: () => Promise<Opened>;
  readonly post: (path: string, body: object, token?: string) => Promise<{ readonly status: number }>;
}

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { emailCode: true } } });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const users: Kind = {
  scope: () => projectScope(project.id),
  open: async () => {
    const user = await project.newUser();
    const { email, password, userId: id, accessToken, refreshToken } = user;
    return {
      email,
      id,
      accessToken,
      waysIn: async () => ({
        session: (await project.refresh(refreshToken)).status === 200,
        password: (await project.logIn({ email, password })).status === 200,
      }),
    };
  },
  post: (path, body, token) => project.auth('POST', path, { body, ...(token !== undefined && { token }) }),
};

const developers: Kind = {
  scope: () => developerScope,
  open: async () => {
    const developer = await newUnverified();
    const { email, password, token: accessToken } = developer;
    const cookie = cookieOf(await logIn(email, password));
    const { token } = await newPersonalToken(developer, ['projects:read']);
    return {
      email,
      id: await idOf(developer),
      accessToken,
      waysIn: async () => ({
        session: (await refresh(cookie)).status === 200,
        password: (await logIn(email, password)).status === 200,
        token: (await call(inject('stack').dashboardUrl, 'GET', '/api/projects', { token })).status === 200,
      }),
    };
  },
  post: (path, body, token) => auth('POST', path, { body, ...(token !== undefined && { token }) }),
};

let ahead = 0;

/** What a mail to the address carries, which its owner alone reads; over a minute after the one before. */
const mailed = async ({ scope }: Kind, kind: EmailTokenKind, { email, id }: Opened) => {
  ahead += 61_000;
  const mock = vi.spyOn(clock, 'now').mockReturnValue(clock.now() + ahead);
  const issued = await issueTokens({ scope: scope(), kind, addressKey: addressKeyOf(email) }, email, id);
  mock.mockRestore();
  if (!issued.isGood) throw new Error('A mail was sent less than a minute ago');
  return issued;
};

type Act = (of: Kind, opened: Opened, token: string | undefined) => Promise<{ readonly status: number }>;

/** Proofs of an address, and whether one that a session of the account makes leaves that session's account as it is. */
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

describe('an address that nobody had verified', () => {
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

describe.each(Object.entries(kinds))('verify-email of %s', (_name, of) => {
  const proofOf = async (opened: Opened) => ({ token: (await mailed(of, 'verify', opened)).token });

  test('200 and everything stays when the address was verified before', async () => {
    const opened = await of.open();
    await of.post('verify-email', await proofOf(opened), opened.accessToken);
    expect(await of.post('verify-email', await proofOf(opened))).toMatchObject({
      status: 200,
      body: { message: 'Email verified' },
    });
    const ways = await opened.waysIn();
    expect(ways).toEqual(all(ways, true));
  });

  test('200 and a working account for who proves the address without a session', async () => {
    const opened = await of.open();
    expect(await of.post('verify-email', await proofOf(opened))).toMatchObject({
      status: 200,
      body: { message: expect.stringMatching(/set a new password/) },
    });
    const { code } = await mailed(of, 'code', opened);
    expect(await of.post('code/verify', { email: opened.email, code })).toMatchObject({ status: 200 });
  });

  test('401 for a token that is none, and the proof stays valid', async () => {
    const opened = await of.open();
    const proof = await proofOf(opened);
    expect(await of.post('verify-email', proof, 'x.y.z')).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_INVALID' },
    });
    expect((await of.post('verify-email', proof, opened.accessToken)).status).toBe(200);
  });

  test('401 for a session that has ended, and the proof stays valid', async () => {
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
