import { ObjectId } from 'mongodb';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { handler as removeDevelopers } from '../../../functions/jobs/remove-developers.ts';
import { type DeveloperRecord, developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { resetPassword, verifyEmail } from '../../../shared/accounts/email-proofs.ts';
import {
  addressKeyOf,
  type EmailTokenKind,
  type IssuedTokens,
  issueTokens,
} from '../../../shared/accounts/email-tokens.ts';
import { clock } from '../../../shared/core/clock.ts';
import { developerScope } from '../../../shared/persistence/item-keys.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import type { ProjectRecord } from '../../../shared/projects/project.ts';
import { call, cookieOf, inParallel, tally } from '../../support/clients/client.ts';
import { codeIn, linkIn, mailAbout, mailsTo, tokenIn } from '../../support/clients/inbox.ts';
import { auth, type DashboardSignIn, logIn, refresh, storedDeveloper } from '../../support/fixtures/developers.ts';
import { idOf, newMember, newPersonalToken } from '../../support/fixtures/members.ts';
import { type Developer, newProject, newUnverified } from '../../support/fixtures/project.ts';
import { newCredentials } from '../../support/fixtures/users.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

type Kind = Exclude<EmailTokenKind, 'code' | 'change'>;

const kinds: Kind[] = ['verify', 'reset'];
const paths = { verify: 'verify-email', reset: 'reset-password' } as const;
const requests = { verify: 'resend-verification', reset: 'request-password-reset' } as const;
const newPassword = 'a new password';
const client = { ip: '192.0.2.1', userAgent: 'test' };
const invalid = { status: 400, body: { code: 'INVALID_EMAIL_TOKEN' } };

const use = (kind: Kind, proof: object, as: { readonly token?: string } = {}) =>
  auth('POST', paths[kind], { body: { ...proof, ...(kind === 'reset' ? { newPassword } : {}) }, ...as });
const request = (kind: Kind, email: string) => auth('POST', requests[kind], { body: { email } });

/** Issues the token and code of an email; they replace earlier ones. */
const issue = async (kind: Kind, developer: Developer): Promise<IssuedTokens> => {
  const { email } = developer;
  const id = await idOf(developer);
  const now = clock.now();
  const ahead = vi.spyOn(clock, 'now').mockReturnValue(now + 61_000);
  const issued = await issueTokens({ scope: developerScope, kind, addressKey: addressKeyOf(email) }, email, id);
  ahead.mockRestore();
  return issued;
};

const later = (ms: number): void => {
  const moment = clock.now() + ms;
  vi.spyOn(clock, 'now').mockReturnValue(moment);
};

const isVerified = async ({ token }: Pick<Developer, 'token'>): Promise<unknown> =>
  (await auth<{ data: { emailVerified: boolean } }>('GET', 'me', { token })).body.data.emailVerified;

/** Registers through the route, which sends an email. */
const register = async () => {
  const credentials = newCredentials();
  const { body } = await auth<DashboardSignIn>('POST', 'register', { body: credentials });
  return { email: credentials.email, token: body.data.accessToken };
};

describe('the emails', () => {
  test('a registration sends a link to the dashboard that verifies the address', async () => {
    const developer = await register();
    const mail = await mailAbout(developer.email, /Confirm/);
    expect(mail.subject).toBe('Confirm your email address for Basalt');
    expect(linkIn(mail).href).toBe(`${inject('stack').dashboardUrl}/verify-email?token=${tokenIn(mail)}`);
    expect(await isVerified(developer)).toBe(false);
    const answer = await use('verify', { token: tokenIn(mail) }, { token: developer.token });
    expect(answer).toMatchObject({ status: 200, body: { success: true, message: 'Email verified' } });
    expect(answer.body).not.toHaveProperty('data');
    expect(await isVerified(developer)).toBe(true);
    const other = await register();
    const otp = codeIn(await mailAbout(other.email, /Confirm/))
      .toLowerCase()
      .replace('-', ' ');
    expect(await use('verify', { email: other.email.toUpperCase(), otp })).toMatchObject({ status: 200 });
    expect(await isVerified(other)).toBe(true);
  });

  test('a reset sets the password, verifies the address, and ends every session and token', async () => {
    const developer = await newUnverified();
    const session = cookieOf(await logIn(developer.email, developer.password));
    const { token } = await newPersonalToken(developer, ['projects:read']);
    expect(await request('reset', ` ${developer.email.toUpperCase()}`)).toMatchObject({ status: 200 });
    const mail = await mailAbout(developer.email, /Reset/);
    expect(linkIn(mail).href).toBe(`${inject('stack').dashboardUrl}/reset-password?token=${tokenIn(mail)}`);
    expect(await use('reset', { token: tokenIn(mail) })).toMatchObject({ status: 200, body: { success: true } });
    expect((await logIn(developer.email, developer.password)).status).toBe(401);
    expect(await logIn(developer.email, newPassword)).toMatchObject({
      status: 200,
      body: { data: { developer: { emailVerified: true } } },
    });
    expect((await refresh(session)).status).toBe(401);
    expect((await call(inject('stack').dashboardUrl, 'GET', '/api/projects', { token })).status).toBe(401);
    expect(await use('reset', { token: tokenIn(mail) })).toMatchObject(invalid);
  });

  test('are sent once per address, kind and minute when requested often, and not to a verified address', async () => {
    const developer = await register();
    await mailAbout(developer.email, /Confirm/);
    const answers = await inParallel(50, (n) => request(kinds[n % 2] ?? 'verify', developer.email));
    expect(tally(answers)).toEqual({ 200: 50 });
    await mailAbout(developer.email, /Reset/);
    expect(await mailsTo(developer.email)).toHaveLength(2);
    expect((await request('verify', 'nobody@example.com')).status).toBe(200);
  });
});

describe.each(kinds)('a token or code to %s', (kind) => {
  test.each(['token', 'code'] as const)(
    '200 for exactly one of 50 concurrent uses of the %s, 400 for the others',
    async (of) => {
      const developer = await newUnverified();
      const { token, code } = await issue(kind, developer);
      const proof = of === 'token' ? { token } : { email: developer.email, otp: code };
      // A code allows only five attempts, so the correct one need not be among the first.
      const counts = tally(await inParallel(50, () => use(kind, proof)));
      expect(counts).toEqual({ 200: 1, 400: 49 });
    },
  );

  test('400 for a wrong code five times, and then for the correct one', async () => {
    const developer = await newUnverified();
    const { code } = await issue(kind, developer);
    const wrong = code === 'AAAA-AAAA' ? 'BBBB-BBBB' : 'AAAA-AAAA';
    for (let n = 0; n < 5; n++) expect(await use(kind, { email: developer.email, otp: wrong })).toMatchObject(invalid);
    expect(await use(kind, { email: developer.email, otp: code })).toMatchObject(invalid);
  });

  test('400 when it has expired, belongs to a project’s user, or is for another purpose', async () => {
    const developer = await newUnverified();
    const { token, code } = await issue(kind, developer);
    const { email } = developer;
    const act = (proof: object) =>
      kind === 'verify'
        ? verifyEmail(developerAccounts, proof, client)
        : resetPassword(developerAccounts, proof, newPassword, client);
    expect(await use(kind === 'verify' ? 'reset' : 'verify', { token })).toMatchObject(invalid);
    later(662_000);
    await expect(act({ email, otp: code })).rejects.toMatchObject({ code: 'INVALID_EMAIL_TOKEN' });
    later(25 * 3600_000);
    await expect(act({ token })).rejects.toMatchObject({ code: 'INVALID_EMAIL_TOKEN' });
  });

  test.each<[string, object]>([
    ['nothing', {}],
    ['an address alone', { email: 'a@b.co' }],
    ['a code alone', { otp: 'AAAA-AAAA' }],
    ['an operator as token', { token: { $ne: null } }],
    ['a list as code', { email: 'a@b.co', otp: ['AAAA-AAAA'] }],
    ['an unknown field', { token: 'A'.repeat(64), plan: 'pro' }],
  ])('400 VALIDATION_FAILED for %s', async (_name, proof) => {
    expect(await use(kind, proof)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });
});

test('400 for an invalid password; the token stays valid', async () => {
  const developer = await newUnverified();
  const { token } = await issue('reset', developer);
  const short = await auth('POST', 'reset-password', { body: { token, newPassword: 'short' } });
  expect(short).toMatchObject({ status: 400, body: { errors: [{ field: 'newPassword' }] } });
  expect((await use('reset', { token })).status).toBe(200);
});

describe('change-password', () => {
  const change = (developer: Developer, body: object) => developer.dashboard('PUT', '/api/auth/change-password', body);

  test('200 ends the other sessions but not this one; sign-in needs the new password', async () => {
    const developer = await newUnverified();
    const elsewhere = cookieOf(await logIn(developer.email, developer.password));
    const answer = await change(developer, { currentPassword: developer.password, newPassword });
    expect(answer).toMatchObject({ status: 200, body: { success: true, message: 'Password changed' } });
    expect(answer.body).not.toHaveProperty('data');
    expect((await refresh(elsewhere)).status).toBe(401);
    const sessions = await developer.dashboard<{ data: { items: unknown[] } }>('GET', '/api/auth/sessions');
    expect(sessions.body.data).toMatchObject({ items: [{ current: true }], total: 1 });
    expect((await logIn(developer.email, developer.password)).status).toBe(401);
    expect((await logIn(developer.email, newPassword)).status).toBe(200);
  });

  test('200 ends every personal access token with endTokens, and no token without it', async () => {
    const developer = await newUnverified();
    const made = [
      await newPersonalToken(developer, ['projects:read']),
      await newPersonalToken(developer, ['mail:read']),
    ];
    const ask = (token: string) => call(inject('stack').dashboardUrl, 'GET', '/api/projects', { token });
    const statuses = async () => tally(await Promise.all(made.map(({ token }) => ask(token))));
    const living = { 200: 1, 403: 1 };
    const passwords = [developer.password, 'a second password', 'a third password', 'a fourth password'];
    const by = (n: number, more: object) =>
      change(developer, { currentPassword: passwords[n], newPassword: passwords[n + 1], ...more });
    for (const [n, more] of [{}, { endTokens: false }].entries()) {
      expect(await by(n, more), JSON.stringify(more)).toMatchObject({ status: 200 });
      expect(await statuses()).toEqual(living);
    }
    const wrong = { currentPassword: 'not the password', newPassword, endTokens: true };
    expect((await change(developer, wrong)).status).toBe(401);
    expect(await statuses()).toEqual(living);
    const elsewhere = cookieOf(await logIn(developer.email, passwords[2] ?? ''));
    expect(await by(2, { endTokens: true })).toMatchObject({ status: 200 });
    expect(await statuses()).toEqual({ 401: 2 });
    expect((await refresh(elsewhere)).status).toBe(401);
    expect((await developer.dashboard('GET', '/api/auth/tokens')).body).toMatchObject({ data: { total: 0 } });
  });

  test.each(['yes', 1, {}, []])('400 VALIDATION_FAILED for endTokens %j', async (endTokens) => {
    const developer = await newUnverified();
    const answer = await change(developer, { currentPassword: developer.password, newPassword, endTokens });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ field: 'endTokens' }] },
    });
  });

  test('401 without the current password or with a wrong one, which counts like a failed sign-in', async () => {
    const developer = await newUnverified();
    expect(await change(developer, { newPassword })).toMatchObject({
      status: 401,
      body: { code: 'INVALID_CREDENTIALS' },
    });
    const answers = await inParallel(50, () => change(developer, { currentPassword: 'wrong password', newPassword }));
    const counts = tally(answers);
    expect(counts[401]).toBeLessThanOrEqual(5);
    expect(counts).toEqual({ 401: counts[401], 429: 50 - (counts[401] ?? 0) });
  });

  test('401 TOKEN_INVALID when the session has ended', async () => {
    const developer = await newUnverified();
    const list = await developer.dashboard<{ data: { items: { _id: string }[] } }>('GET', '/api/auth/sessions');
    const path = `/api/auth/sessions/${list.body.data.items[0]?._id}`;
    expect((await developer.dashboard('DELETE', path)).status).toBe(200);
    expect(await change(developer, { currentPassword: developer.password, newPassword })).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_INVALID' },
    });
  });

  test('200 for one of four concurrent changes with different passwords', async () => {
    const developer = await newUnverified();
    const passwords = Array.from({ length: 4 }, (_, n) => `new password ${n}`);
    const answers = await Promise.all(
      passwords.map((password) => change(developer, { currentPassword: developer.password, newPassword: password })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const winner = passwords[answers.findIndex(({ status }) => status === 200)] ?? '';
    expect((await logIn(developer.email, winner)).status).toBe(200);
  });

  test('200 without a current password when the account never had one', async () => {
    const developer = await newUnverified();
    await onControl((db) =>
      db
        .collection<DeveloperRecord>('developers')
        .updateOne({ email: developer.email }, { $set: { hasPassword: false } }),
    );
    expect((await change(developer, { newPassword })).status).toBe(200);
    expect((await change(developer, { newPassword })).status).toBe(401);
    expect((await logIn(developer.email, newPassword)).status).toBe(200);
  });
});

describe('deleting an account', () => {
  const remove = (developer: Developer, body: object = { password: developer.password }) =>
    developer.dashboard('DELETE', '/api/auth/account', body);

  const projectState = async (id: string): Promise<string | undefined> =>
    (await onControl((db) => db.collection<ProjectRecord>('projects').findOne({ _id: new ObjectId(id) })))?.state;

  test('202 deletes projects, memberships, tokens and sessions, and the address can register again', async () => {
    const others = await newProject();
    const developer = await newMember(others, 'admin');
    const id = await idOf(developer);
    const mine = await newProject([], developer);
    const session = cookieOf(await logIn(developer.email, developer.password));
    const { token } = await newPersonalToken(developer, ['projects:read']);

    const answer = await remove(developer);
    expect(answer).toMatchObject({ status: 202, body: { success: true, data: { _id: id } } });
    expect(answer.cookies).toEqual(['dashboard_refresh=; HttpOnly; Path=/api/auth; Max-Age=0; SameSite=Strict']);

    expect((await logIn(developer.email, developer.password)).status).toBe(401);
    expect((await refresh(session)).status).toBe(401);
    expect((await developer.dashboard('GET', '/api/auth/me')).status).toBe(401);
    expect((await developer.dashboard('POST', '/api/projects', { name: 'late' })).status).toBe(401);
    expect((await developer.dashboard('GET', `/api/projects/${others.id}`)).status).toBe(404);
    expect((await call(inject('stack').dashboardUrl, 'GET', '/api/projects', { token })).status).toBe(401);
    expect((await mine.api('GET', '/api/data/notes')).status).toBe(401);
    expect(await projectState(mine.id)).not.toBe('active');
    expect(await projectState(others.id)).toBe('active');
    expect((await others.developer.dashboard('GET', `/api/projects/${others.id}/members`)).body).toMatchObject({
      data: { total: 1 },
    });
    const again = { email: developer.email, password: developer.password };
    expect((await auth('POST', 'register', { body: again })).status).toBe(201);
  });

  test('202 for one of four concurrent requests, 401 TOKEN_INVALID for the others, although the password is correct', async () => {
    const developer = await newUnverified();
    const [done, ...others] = (await inParallel(4, () => remove(developer))).sort((a, b) => a.status - b.status);
    expect(done).toMatchObject({ status: 202 });
    for (const other of others) expect(other).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });

  test('401 with a wrong or missing password; nothing is deleted', async () => {
    const developer = await newUnverified();
    const mine = await newProject([], developer);
    for (const body of [{}, { password: 'wrong password' }]) {
      expect(await remove(developer, body)).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } });
    }
    expect((await developer.dashboard('GET', `/api/projects/${mine.id}`)).status).toBe(200);
  });

  describe('as soon as the account is marked as deleted,', () => {
    const stack = inject('stack');
    const ownerLeaves = (developer: Developer) =>
      onControl((db) =>
        db
          .collection<DeveloperRecord>('developers')
          .updateOne({ email: developer.email }, { $set: { deletingSince: new Date() } }),
      );

    test('404 for a project by a personal token, and 401 for the project list', async () => {
      const developer = await newUnverified();
      const { id } = await newProject([], developer);
      const { token } = await newPersonalToken(developer, ['collections:write']);
      await ownerLeaves(developer);
      const body = { name: 'notes', schema: null };
      const answer = await call(stack.dashboardUrl, 'POST', `/api/projects/${id}/collections`, { token, body });
      expect(answer).toMatchObject({ status: 404, body: { code: 'PROJECT_NOT_FOUND' } });
      expect((await developer.dashboard('GET', '/api/projects')).status).toBe(401);
    });

    test('404 for a member of the owner’s project', async () => {
      const project = await newProject();
      const member = await newMember(project, 'admin');
      await ownerLeaves(project.developer);
      expect(await member.dashboard('GET', `/api/projects/${project.id}`)).toMatchObject({
        status: 404,
        body: { code: 'PROJECT_NOT_FOUND' },
      });
    });

    test('401 for the keys of a project that are not cached', async () => {
      const project = await newProject([], await newUnverified());
      await ownerLeaves(project.developer);
      expect(await project.api('GET', '/api/data/notes')).toMatchObject({
        status: 401,
        body: { code: 'API_KEY_INVALID' },
      });
    });
  });

  test('the job continues an interrupted deletion, and removes the record a minute later', async () => {
    const developer = await newUnverified();
    const id = await idOf(developer);
    const mine = await newProject([], developer);
    await newPersonalToken(developer, ['projects:read']);
    const mark = (deletingSince: Date) =>
      onControl((db) =>
        db
          .collection<DeveloperRecord>('developers')
          .updateOne({ _id: new ObjectId(id) }, { $set: { deletingSince, email: `deleted ${id}` } }),
      );
    await mark(new Date());
    await removeDevelopers();
    expect(await storedDeveloper(id)).not.toBeNull();
    await mark(new Date(Date.now() - 61_000));
    await removeDevelopers();
    expect(await storedDeveloper(id)).toBeNull();
    expect(await projectState(mine.id)).not.toBe('active');
    const tokens = await onControl((db) =>
      db.collection('personalTokens').countDocuments({ developerId: new ObjectId(id) }),
    );
    expect(tokens).toBe(0);
  });
});

describe('sessions', () => {
  test('200 with the developer’s own sessions, the last used first, paged; other sessions return 404', async () => {
    const developer = await newUnverified();
    await logIn(developer.email, developer.password);
    const list = await developer.dashboard<{ data: { items: { _id: string; current: boolean }[]; total: number } }>(
      'GET',
      '/api/auth/sessions?limit=1',
    );
    expect(list).toMatchObject({ status: 200, body: { data: { items: [{ current: false }], total: 2, limit: 1 } } });
    const [session] = list.body.data.items;
    expect(Object.keys(session ?? {}).sort()).toEqual(['_id', 'createdAt', 'current', 'ip', 'lastUsedAt', 'userAgent']);
    const stranger = await newUnverified();
    expect(await stranger.dashboard('DELETE', `/api/auth/sessions/${session?._id}`)).toMatchObject({
      status: 404,
      body: { code: 'SESSION_NOT_FOUND' },
    });
  });
});
