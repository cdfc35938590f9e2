import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { updateUser } from '../../../shared/accounts/users/manage-users.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const send = (method: string, userId: string, body?: unknown) =>
  project.developer.dashboard<{ readonly code?: string; readonly data: Readonly<Record<string, unknown>> }>(
    method,
    `/api/projects/${project.id}/users/${userId}`,
    body,
  );

const another = 'set by the developer';

describe('an update that dies', () => {
  test.each([
    ['disables', { disabled: true, name: 'Changed' }],
    ['gives another password to', { password: another, name: 'Changed' }],
  ])('leaves no session of the user when it %s the user, at whichever step it died', async (_what, changes) => {
    const domain = await domainProject(project);
    for (let count = 0, hit: string | undefined = 'none yet'; hit !== undefined; count++) {
      const { userId, email, refreshToken } = await project.newUser();
      const killed = killAfter(count);
      await updateUser(domain, userId, changes).catch(() => undefined);
      hit = killed.hit();
      vi.restoreAllMocks();
      const { data } = (await send('GET', userId)).body;
      const isOther = (await project.logIn({ email, password: another })).status === 200;
      const { status } = await project.refresh(refreshToken);
      if (data.disabled === true || isOther) expect({ hit, status }).toEqual({ hit, status: 401 });
      else expect(hit).toEqual(expect.any(String));
      if (status === 401) expect(data.name).toBe('Changed');
    }
  });
});

describe('409 for a rejected update of a user', () => {
  test('keeps the session and password when the address is taken', async () => {
    const { email } = await project.newUser();
    const user = await project.newUser();
    expect(await send('PATCH', user.userId, { email, password: another })).toMatchObject({
      status: 409,
      body: { code: 'USER_EXISTS' },
    });
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 200 });
    expect(await project.logIn({ email: user.email, password: another })).toMatchObject({ status: 401 });
    expect(await project.logIn(user)).toMatchObject({ status: 200 });
  });

  const taken = { status: 409, body: { code: 'DUPLICATE_VALUE' } };

  test.each([
    ['gives another password', { password: another }],
    ['disables', { disabled: true }],
  ])('keeps session, password and state when a unique value is taken and the update %s', async (_what, changes) => {
    const username = `taken-${Date.now()}-${Object.keys(changes)[0]}`;
    await project.newUser({ username });
    const user = await project.newUser();
    expect(await send('PATCH', user.userId, { ...changes, username })).toMatchObject(taken);
    const { body } = await project.refresh(user.refreshToken);
    expect((await send('GET', user.userId)).body.data).toMatchObject({ disabled: false });
    expect(await project.logIn({ email: user.email, password: another })).toMatchObject({ status: 401 });
    expect(await project.logIn(user)).toMatchObject({ status: 200 });
    expect(await project.refresh(body.refreshToken)).toMatchObject({ status: 200 });
    expect(await send('PATCH', user.userId, changes)).toMatchObject({ status: 200 });
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 401 });
  });

  test('keeps the session of each of 20 users when another concurrent update takes the value', async () => {
    const username = `raced-${Date.now()}`;
    const all = await inParallel(20, () => project.newUser());
    const answers = await Promise.all(all.map(({ userId }) => send('PATCH', userId, { password: another, username })));
    expect(tally(answers)).toEqual({ 200: 1, 409: 19 });
    const refreshed = await Promise.all(all.map(({ refreshToken }) => project.refresh(refreshToken)));
    expect(refreshed.map(({ status }) => status)).toEqual(answers.map(({ status }) => (status === 409 ? 200 : 401)));
  });
});

test('400 for an invalid field keeps the session of a user whom the update would disable', async () => {
  const user = await project.newUser();
  expect(await send('PATCH', user.userId, { disabled: true, 'name.first': 'x' })).toMatchObject({ status: 400 });
  expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 200 });
});

test('200 for each of 20 concurrent updates that name and disable a user, who ends disabled', async () => {
  const user = await project.newUser();
  const answers = await inParallel(20, (n) => send('PATCH', user.userId, { disabled: true, name: `name ${n}` }));
  expect(tally(answers)).toEqual({ 200: 20 });
  expect((await send('GET', user.userId)).body.data).toMatchObject({ disabled: true });
  expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 401 });
});

test('200 for each of 20 concurrent updates that disable and enable a user; the last one wins', async () => {
  const user = await project.newUser();
  const answers = await inParallel(20, (n) => send('PATCH', user.userId, { disabled: n % 2 === 0 }));
  expect(tally(answers)).toEqual({ 200: 20 });
  const isDisabled = (await send('GET', user.userId)).body.data.disabled === true;
  expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 401 });
  expect(await project.logIn(user)).toMatchObject({ status: isDisabled ? 401 : 200 });
});
