import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Collection, MongoNetworkError, ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as refreshToken } from '../../../functions/user-auth/refresh-token.ts';
import { handler as signOut } from '../../../functions/user-auth/sign-out.ts';
import { handler as signUp } from '../../../functions/user-auth/sign-up.ts';
import { handler as signUpAnonymously } from '../../../functions/user-auth/sign-up-anonymously.ts';
import { handler as upgradeAnonymous } from '../../../functions/user-auth/upgrade-anonymous.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import type { LambdaHandler } from '../../../shared/http/stack.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { list } from '../../../shared/persistence/table.ts';
import { inParallel } from '../../support/clients/client.ts';
import { mailAbout, mailsTo, tokenIn } from '../../support/clients/inbox.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { loseFirstAnswers } from '../../support/faults/lost-answers.ts';
import { changeStoredUsers, storedUsers } from '../../support/fixtures/stored-users.ts';
import {
  type Credentials,
  claimsOf,
  newCredentials,
  newUsersProject,
  type UsersProject,
} from '../../support/fixtures/users.ts';

for (const name of ['RATE_LIMIT', 'AUTH_RATE_LIMIT', 'CREDENTIAL_RATE_LIMIT']) process.env[name] = '1000000';
process.env.RATE_BLOCK = '1';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { anonymous: true } } });
});
afterEach(() => {
  vi.restoreAllMocks();
  forgetProjects();
});

const inHeader = { 'x-refresh-token-mode': 'header' };
/** 22 characters, the minimum. */
const newKey = (): string => randomBytes(16).toString('base64url');

const later = (seconds: number): void => {
  const now = Date.now() + seconds * 1000;
  vi.spyOn(clock, 'now').mockReturnValue(now);
  forgetProjects();
};

const ask = (handler: LambdaHandler, idempotencyKey: string, body?: unknown) =>
  invoke(handler, {
    method: 'POST',
    key: project.publishableKey,
    sourceIp: `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`,
    headers: { ...inHeader, 'idempotency-key': idempotencyKey },
    ...(body === undefined ? {} : { body }),
  });
const register = (key: string, body: unknown) => ask(signUp, key, body);
const refresh = (token: unknown) =>
  invoke(refreshToken, {
    method: 'POST',
    key: project.publishableKey,
    headers: { ...inHeader, 'x-refresh-token': String(token) },
  });
const accountsOf = async ({ email }: Credentials): Promise<number> => (await storedUsers(project, { email })).length;
const countUsers = async (): Promise<number> => (await storedUsers(project)).length;

const unknown = { status: 409, body: { code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' } };
const inProgress = { status: 409, body: { code: 'IDEMPOTENCY_IN_PROGRESS' } };
const reused = { status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } };

type Answer = Awaited<ReturnType<typeof ask>>;

/** Retries while the first request is running. */
const untilDone = async (send: () => Promise<Answer>): Promise<Answer> => {
  const answer = await send();
  if (answer.body.code !== 'IDEMPOTENCY_IN_PROGRESS') return answer;
  await pause(50);
  return untilDone(send);
};

describe.each([
  ['a sign-up', signUp, newCredentials],
  ['an anonymous sign-in', signUpAnonymously, (): Credentials | undefined => undefined],
] as const)('%s with an Idempotency-Key', (_what, handler, newBody) => {
  test('201 with new tokens of the same session for a repeat', async () => {
    const [key, body] = [newKey(), newBody()];
    const before = await countUsers();
    const first = await ask(handler, key, body);
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
    later(1);
    const again = await ask(handler, key, body);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    const { accessToken, refreshToken: token, userId, message, user } = again.body;
    expect({ userId, message, user }).toEqual({
      userId: first.body.userId,
      message: first.body.message,
      user: first.body.user,
    });
    expect(accessToken).not.toBe(first.body.accessToken);
    const claims = [first.body.accessToken, accessToken].map((one) => claimsOf(String(one)));
    expect(claims[1]).toMatchObject({ sid: claims[0]?.sid, amr: claims[0]?.amr, sub: userId });
    expect((await refresh(token)).status).toBe(200);
    expect(await countUsers()).toBe(before + 1);
  });

  test('201 for 50 concurrent requests, which open one account and one session', async () => {
    const [key, body] = [newKey(), newBody()];
    const before = await countUsers();
    const answers = await inParallel(50, () => untilDone(() => ask(handler, key, body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(201));
    const claims = answers.map(({ body: { accessToken } }) => claimsOf(String(accessToken)));
    expect(new Set(claims.map(({ sub, sid }) => `${sub} ${sid}`)).size).toBe(1);
    expect(await countUsers()).toBe(before + 1);
  });

  test('keeps the refresh tokens of all responses valid until one of them is used', async () => {
    const [key, body] = [newKey(), newBody()];
    const first = await ask(handler, key, body);
    const second = await ask(handler, key, body);
    expect((await refresh(second.body.refreshToken)).status).toBe(200);
    expect((await refresh(first.body.refreshToken)).body.code).toBe('REFRESH_TOKEN_INVALID');
  });

  test('201 when the first response to each write is lost', async () => {
    const [key, body] = [newKey(), newBody()];
    const before = await countUsers();
    loseFirstAnswers();
    const first = await ask(handler, key, body);
    const again = await ask(handler, key, body);
    expect([first.status, again.status, again.body.userId]).toEqual([201, 201, first.body.userId]);
    expect(await countUsers()).toBe(before + 1);
  });

  test('201 after a 503, whether or not the account was stored', async () => {
    const insert = Collection.prototype.insertOne;
    for (const arrives of [false, true]) {
      const [key, body] = [newKey(), newBody()];
      const before = await countUsers();
      vi.spyOn(Collection.prototype, 'insertOne').mockImplementationOnce(async function lost(this: Collection, doc) {
        if (arrives) await insert.call(this, doc);
        throw new MongoNetworkError('cut');
      });
      expect((await ask(handler, key, body)).status).toBe(503);
      const again = await ask(handler, key, body);
      expect([again.status, await countUsers()]).toEqual([201, before + 1]);
      expect((await refresh(again.body.refreshToken)).status).toBe(200);
    }
  });

  test('never opens two accounts, or hides its own, after a crash at any step', async () => {
    let passed = 0;
    const ends = new Set<string>();
    for (let step = 0, finished = false; !finished; step += 1) {
      const [key, body] = [newKey(), newBody()];
      const before = await countUsers();
      const killed = killAfter(step);
      await ask(handler, key, body);
      finished = killed.hit() === undefined;
      vi.restoreAllMocks();
      // Longer than any function runs.
      passed += 36;
      later(passed);
      const last = await ask(handler, key, body);
      ends.add(`${last.status} ${last.body.code ?? ''}`);
      expect(await countUsers(), `step ${step}`).toBe(before + 1);
      if (last.status === 201) expect((await refresh(last.body.refreshToken)).status).toBe(200);
    }
    expect([...ends]).toEqual(['201 ']);
  });

  test.each(['x'.repeat(21), '', 'x'.repeat(256), `${'x'.repeat(22)},y`])(
    '400 VALIDATION_FAILED for the key %j',
    async (key) => {
      const before = await countUsers();
      expect(await ask(handler, key, newBody())).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED', errors: [{ field: 'Idempotency-Key' }] },
      });
      expect(await countUsers()).toBe(before);
    },
  );

  test('409 IDEMPOTENCY_IN_PROGRESS while the first request may be running', async () => {
    const [key, body] = [newKey(), newBody()];
    killAfter(2);
    await ask(handler, key, body);
    vi.restoreAllMocks();
    expect(await ask(handler, key, body)).toMatchObject(inProgress);
  });

  test('409 IDEMPOTENCY_KEY_REUSED for another request', async () => {
    const [key, body] = [newKey(), newBody()];
    expect((await ask(handler, key, body)).status).toBe(201);
    expect(await ask(handler, key, { ...body, password: 'another password' })).toMatchObject(reused);
    const other = handler === signUp ? signUpAnonymously : signUp;
    expect(await ask(other, key, newCredentials())).toMatchObject(reused);
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN after 10 minutes, until the 24 hours are over', async () => {
    const [key, body] = [newKey(), newBody()];
    await ask(handler, key, body);
    later(595);
    expect((await ask(handler, key, body)).status).toBe(201);
    later(605);
    expect(await ask(handler, key, body)).toMatchObject(unknown);
    later(24 * 3600 - 60);
    expect(await ask(handler, key, body)).toMatchObject(unknown);
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN once the session was refreshed or ended', async () => {
    for (const act of [refreshToken, signOut]) {
      const [key, body] = [newKey(), newBody()];
      const first = await ask(handler, key, body);
      const headers = { ...inHeader, 'x-refresh-token': String(first.body.refreshToken) };
      expect((await invoke(act, { method: 'POST', key: project.publishableKey, headers })).status).toBe(200);
      for (let times = 0; times < 2; times += 1) expect(await ask(handler, key, body)).toMatchObject(unknown);
    }
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN once the account has other credentials, is disabled or deleted', async () => {
    const changes = {
      'another password': { credentialVersion: 1 },
      'another address': { email: `${randomUUID()}@example.com` },
      'a provider': { identities: [{ provider: 'github', id: '1', key: `github:${randomUUID()}` }] },
      'a second factor': { '_signIn.totp': { sealed: 'x', lastStep: 0, recovery: [] } },
      'a passkey': { '_signIn.passkeys': [{}] },
      disabled: { isDisabled: true },
      deleted: { isDeleted: true },
    };
    for (const [what, change] of Object.entries(changes)) {
      const [key, body] = [newKey(), newBody()];
      const { userId } = (await ask(handler, key, body)).body;
      await changeStoredUsers(project, { _id: new ObjectId(String(userId)) }, change);
      expect(await ask(handler, key, body), what).toMatchObject(unknown);
    }
  });

  test('the table has neither key nor token, nor a hash by which a password could be guessed', async () => {
    const [key, body] = [newKey(), newBody()];
    const { accessToken, refreshToken: token } = (await ask(handler, key, body)).body;
    await ask(handler, key, body);
    const partition = projectScope(project.id);
    const items = await list({ partition, only: { prefix: 'idempotency#' } });
    expect(items.length).toBeGreaterThan(0);
    const text = JSON.stringify(await list({ partition }));
    const parts = ['POST', '/', '', '', JSON.stringify(body ?? {})];
    const unkeyed = createHash('sha256');
    for (const part of parts) unkeyed.update(`${Buffer.byteLength(part)}\n`).update(part);
    for (const secret of [key, String(accessToken), String(token), unkeyed.digest('base64url')]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('a repeated sign-up', () => {
  test('201 with the fields of the body in another order', async () => {
    const [key, { email, password }] = [newKey(), newCredentials()];
    const first = await register(key, { email, password, name: 'Ann', address: { city: 'Bern', street: 'x' } });
    const again = await register(key, { address: { street: 'x', city: 'Bern' }, name: 'Ann', password, email });
    expect([first.status, again.status, again.body.userId]).toEqual([201, 201, first.body.userId]);
  });

  test('201 after the session verified the email, and 409 IDEMPOTENCY_OUTCOME_UNKNOWN after another user did', async () => {
    for (const isOwn of [true, false]) {
      const [key, body] = [newKey(), newCredentials()];
      const { accessToken } = (await register(key, body)).body;
      const proof = { body: { token: tokenIn(await mailAbout(body.email, /./)) } };
      const as = isOwn ? { ...proof, token: String(accessToken) } : proof;
      expect((await project.auth('POST', 'verify-email', as)).status).toBe(200);
      const again = await register(key, body);
      expect(again).toMatchObject(isOwn ? { status: 201, body: { user: { emailVerified: true } } } : unknown);
    }
  });

  test('sends one verification email', async () => {
    const [key, body] = [newKey(), newCredentials()];
    for (let times = 0; times < 3; times += 1) await register(key, body);
    const other = newCredentials();
    await register(newKey(), other);
    await mailAbout(other.email, /./);
    await mailAbout(body.email, /./);
    expect(await mailsTo(body.email)).toHaveLength(1);
  });

  test('409 USER_EXISTS and 400 are kept, with the first request id', async () => {
    const [key, body] = [newKey(), newCredentials()];
    await project.signUp(body);
    const taken = await register(key, body);
    expect(taken).toMatchObject({ status: 409, body: { code: 'USER_EXISTS' } });
    expect(await register(key, body)).toMatchObject({ status: 409, body: taken.body });
    expect(await accountsOf(body)).toBe(1);
    const [wrongKey, wrong] = [newKey(), { email: 'x', password: 'x' }];
    expect((await register(wrongKey, wrong)).status).toBe(400);
    expect((await register(wrongKey, wrong)).headers.get('idempotent-replayed')).toBe('true');
  });

  test('201 for its own account, though sign-ups are closed by then', async () => {
    const closing = await newUsersProject();
    const [key, body] = [newKey(), newCredentials()];
    const headers = { ...inHeader, 'idempotency-key': key };
    const send = () => invoke(signUp, { method: 'POST', key: closing.publishableKey, headers, body });
    const first = await send();
    await closing.developer.dashboard('PATCH', `/api/projects/${closing.id}`, { allowPublicSignup: false });
    forgetProjects();
    expect(await send()).toMatchObject({ status: 201, body: { userId: first.body.userId } });
  });

  test('201 without a key opens an account and no second one', async () => {
    const body = newCredentials();
    expect([(await project.signUp(body)).status, (await project.signUp(body)).status]).toEqual([201, 409]);
  });
});

describe('a repeated anonymous sign-in', () => {
  test('201 for no body and an empty object', async () => {
    const key = newKey();
    const first = await ask(signUpAnonymously, key);
    expect(await ask(signUpAnonymously, key, {})).toMatchObject({ status: 201, body: { userId: first.body.userId } });
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN once it was upgraded', async () => {
    const key = newKey();
    const first = await ask(signUpAnonymously, key);
    const upgrade = { method: 'POST', key: project.publishableKey, token: String(first.body.accessToken) };
    expect((await invoke(upgradeAnonymous, { ...upgrade, body: newCredentials() })).status).toBe(200);
    expect(await ask(signUpAnonymously, key)).toMatchObject(unknown);
  });

  test('429 RATE_LIMITED frees the key, and repeats are not counted', async () => {
    const sourceIp = `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`;
    const enter = (key: string) => {
      const headers = { ...inHeader, 'idempotency-key': key };
      return invoke(signUpAnonymously, { method: 'POST', key: project.publishableKey, sourceIp, headers });
    };
    // A new hour would allow ten more.
    const now = Date.now();
    vi.spyOn(clock, 'now').mockReturnValue(now);
    const key = newKey();
    for (let times = 0; times < 12; times += 1) expect((await enter(key)).status).toBe(201);
    for (let times = 0; times < 9; times += 1) expect((await enter(newKey())).status).toBe(201);
    const late = newKey();
    expect(await enter(late)).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    vi.spyOn(clock, 'now').mockReturnValue(now + 3600_000);
    expect((await enter(late)).status).toBe(201);
  });
});
