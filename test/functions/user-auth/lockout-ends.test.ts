import { beforeAll, describe, expect, test } from 'vitest';
import { type PasswordSignIn, startSignIn } from '../../../shared/accounts/lockout.ts';
import { developerScope, projectScope } from '../../../shared/persistence/item-keys.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { auth, logIn } from '../../support/fixtures/developers.ts';
import { newUnverified } from '../../support/fixtures/project.ts';
import { changeStoredUsers } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

interface Signed {
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

interface Kind {
  readonly scope: () => PasswordSignIn['scope'];
  readonly open: () => Promise<Signed>;
  readonly logIn: (email: string, password: string) => Promise<{ readonly status: number }>;
  readonly change: (token: string, body: object) => Promise<{ readonly status: number }>;
}

const newPassword = 'another password';

const countFailure = async (attempt: PasswordSignIn): Promise<void> => (await startSignIn(attempt)).fail();

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

const users: Kind = {
  scope: () => projectScope(project.id),
  open: () => project.newUser(),
  logIn: (email, password) => project.logIn({ email, password }),
  change: (token, body) => project.auth('PUT', 'change-password', { token, body }),
};

const developers: Kind = {
  scope: () => developerScope,
  open: () => newUnverified(),
  logIn,
  change: (token, body) => auth('PUT', 'change-password', { token, body }),
};

/** Fills this client's window. */
const lock = async (of: Kind, { email, password }: Signed): Promise<void> => {
  for (let wrong = 0; wrong < 5; wrong++) expect((await of.logIn(email, 'not the password')).status).toBe(401);
  expect((await of.logIn(email, password)).status).toBe(429);
};

describe.each(Object.entries({ users, developers }))('the lockout of %s', (_name, of) => {
  test('200 for a sign-in of the same client after the session has changed the password', async () => {
    const account = await of.open();
    await lock(of, account);
    const body = { currentPassword: account.password, newPassword };
    expect(await of.change(account.token, body)).toMatchObject({ status: 200 });
    expect(await of.logIn(account.email, newPassword)).toMatchObject({ status: 200 });
  });

  test('200 also after 100 failures of all clients, which were guesses at the old password', async () => {
    const account = await of.open();
    const from = (n: number) => ({ scope: of.scope(), address: account.email, ip: `10.0.0.${n}` });
    // A hundred new connections at the same moment exceed the connection timeout on a busy machine.
    for (let first = 0; first < 100; first += 20) await inParallel(20, (n) => countFailure(from(first + n)));
    expect(await of.logIn(account.email, account.password)).toMatchObject({ status: 429 });
    const body = { currentPassword: account.password, newPassword };
    expect(await of.change(account.token, body)).toMatchObject({ status: 200 });
    expect(await of.logIn(account.email, newPassword)).toMatchObject({ status: 200 });
  });

  test('429 for a sign-in after the session has guessed wrong, and for its sixth guess', async () => {
    const account = await of.open();
    await lock(of, account);
    const guesses = await inParallel(50, (n) =>
      of.change(account.token, { currentPassword: `wrong guess ${n}`, newPassword }),
    );
    expect(tally(guesses)).toEqual({ 401: 5, 429: 45 });
    const body = { currentPassword: account.password, newPassword };
    expect(await of.change(account.token, body)).toMatchObject({ status: 429 });
    expect(await of.logIn(account.email, account.password)).toMatchObject({ status: 429 });
  });
});

test('200 for a sign-in after a step-up with the password; other clients stay locked', async () => {
  const user = await project.newUser();
  const elsewhere = { scope: projectScope(project.id), address: user.email, ip: '192.0.2.9' };
  for (let n = 0; n < 5; n++) await countFailure(elsewhere);
  await lock(users, user);
  const body = { email: `new-${user.email}`, password: user.password };
  const asked = await project.auth('POST', 'request-email-change', { token: user.token, body });
  expect(asked).toMatchObject({ status: 200 });
  expect(await project.logIn(user)).toMatchObject({ status: 200 });
  await expect(countFailure(elsewhere)).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED' });
});

test('200 for a sign-in with the first password of an account that was locked before', async () => {
  const user = await project.newUser();
  await changeStoredUsers(project, { email: user.email }, { hasPassword: false });
  for (let wrong = 0; wrong < 5; wrong++) await project.logIn({ email: user.email, password: 'not the password' });
  expect(await project.auth('PUT', 'change-password', { token: user.token, body: { newPassword } })).toMatchObject({
    status: 200,
  });
  expect(await project.logIn({ email: user.email, password: newPassword })).toMatchObject({ status: 200 });
});
