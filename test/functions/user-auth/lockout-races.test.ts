import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { proveSignIn } from '../../../shared/accounts/credentials.ts';
import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { type PasswordSignIn, startSignIn } from '../../../shared/accounts/lockout.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { loseFirstAnswers } from '../../support/faults/lost-answers.ts';
import { logIn } from '../../support/fixtures/developers.ts';
import { newUnverified } from '../../support/fixtures/project.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

afterEach(() => {
  vi.restoreAllMocks();
});

interface Kind {
  readonly open: () => Promise<{ readonly email: string; readonly password: string }>;
  readonly logIn: (email: string, password: string) => Promise<{ readonly status: number }>;
}

const users: Kind = {
  open: () => project.newUser(),
  logIn: (email, password) => project.logIn({ email, password }),
};

const developers: Kind = { open: () => newUnverified(), logIn };

describe.each(Object.entries({ users, developers }))('concurrent sign-ins of %s', (_name, of) => {
  test('200 for all of 20 with the right password', async () => {
    const { email, password } = await of.open();
    expect(tally(await inParallel(20, () => of.logIn(email, password)))).toEqual({ 200: 20 });
  });

  test('401 for five of 50 with a wrong password, 429 for the others', async () => {
    const { email } = await of.open();
    expect(tally(await inParallel(50, (n) => of.logIn(email, `wrong guess ${n}`)))).toEqual({ 401: 5, 429: 45 });
  });

  test('401 for at most five of 50, and five more for each right password among them', async () => {
    const { email, password } = await of.open();
    const answers = await inParallel(50, (n) => of.logIn(email, n % 10 === 0 ? password : `wrong guess ${n}`));
    const { 200: right = 0, 401: wrong = 0, 429: locked = 0 } = tally(answers);
    expect(right + wrong + locked).toBe(50);
    expect(wrong).toBeLessThanOrEqual(5 * (1 + right));
    const after = tally(await inParallel(50, (n) => of.logIn(email, `wrong guess ${n}`)));
    expect(after[401] ?? 0).toBeLessThanOrEqual(5);
  });
});

describe('attempts in progress', () => {
  let attempt: PasswordSignIn;

  beforeEach(() => {
    const id = crypto.randomUUID().replaceAll('-', '').slice(0, 24);
    attempt = { scope: projectScope(id), address: `${id}@example.com`, ip: '192.0.2.7' };
  });

  const locked = { code: 'ACCOUNT_LOCKED' };

  const fail = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) await (await startSignIn(attempt)).fail();
  };

  const five = () => inParallel(5, () => startSignIn(attempt));

  test('are at most five of 50 callers, who all succeed, also when the first response of each write is lost', async () => {
    loseFirstAnswers();
    let running = 0;
    let most = 0;
    await inParallel(50, async () => {
      const started = await startSignIn(attempt);
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      await started.succeed();
    });
    expect(most).toBeLessThanOrEqual(5);
    await fail(5);
    await expect(startSignIn(attempt)).rejects.toMatchObject(locked);
  });

  test('let a sixth caller in as soon as one succeeds; the others still count', async () => {
    const [first, ...others] = await five();
    const sixth = startSignIn(attempt);
    await first?.succeed();
    const seventh = await sixth;
    for (const started of [...others, seventh]) await started.fail();
    await expect(startSignIn(attempt)).rejects.toMatchObject(locked);
  });

  test('429 for a sixth caller when all have failed', async () => {
    const started = await five();
    const sixth = expect(startSignIn(attempt)).rejects.toMatchObject(locked);
    for (const each of started) await each.fail();
    await sixth;
  });

  test('429 for a sixth caller who has waited long enough for attempts that never end', async () => {
    await five();
    await expect(startSignIn(attempt)).rejects.toMatchObject({ ...locked, retryAfter: 5 });
  });

  test('do not count when the account could not be read', async () => {
    const unread = new Error('The database does not answer');
    const store = { ...developerAccounts, scope: attempt.scope, find: () => Promise.reject(unread) };
    const credentials = { email: attempt.address, password: 'not the password' };
    const client = { ip: attempt.ip, userAgent: 'test' };
    for (let n = 0; n < 10; n++) await expect(proveSignIn(store, credentials, client)).rejects.toBe(unread);
    await fail(5);
    await expect(startSignIn(attempt)).rejects.toMatchObject(locked);
  });
});
