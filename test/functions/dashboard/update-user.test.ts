import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { updateUser } from '../../../shared/accounts/users/update-user.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { domainProject } from '../../support/worlds/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/worlds/users.ts';

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

describe('an update of a user whose process dies', () => {
  test.each([
    ['disables', { disabled: true, name: 'Changed' }],
    ['gives another password to', { password: another, name: 'Changed' }],
  ])('at whichever change leaves no session of whom it %s', async (_what, changes) => {
    const domain = await domainProject(project);
    for (let count = 0, hit: string | undefined = 'none yet'; hit !== undefined; count++) {
      const { userId, refreshToken } = await project.newUser();
      const killed = killAfter(count);
      await updateUser(domain, userId, changes).catch(() => undefined);
      hit = killed.hit();
      vi.restoreAllMocks();
      const { data } = (await send('GET', userId)).body;
      const { status } = await project.refresh(refreshToken);
      if (data.name === 'Changed') expect({ hit, status }).toEqual({ hit, status: 401 });
      else expect(hit).toEqual(expect.any(String));
    }
  });
});

describe('409 for an update of a user that is refused', () => {
  test('as the address is taken leaves them their session and their password', async () => {
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
});

test('200 for each of 20 that disable and enable a user at once, who is what the last made of them', async () => {
  const user = await project.newUser();
  const answers = await inParallel(20, (n) => send('PATCH', user.userId, { disabled: n % 2 === 0 }));
  expect(tally(answers)).toEqual({ 200: 20 });
  const isDisabled = (await send('GET', user.userId)).body.data.disabled === true;
  expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 401 });
  expect(await project.logIn(user)).toMatchObject({ status: isDisabled ? 401 : 200 });
});
