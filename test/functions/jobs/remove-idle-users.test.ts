import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { rotate } from '../../../shared/accounts/refresh-sessions.ts';
import { lastViewOf } from '../../../shared/accounts/users/users.ts';
import { clock } from '../../../shared/core/clock.ts';
import { removeIdleUsers } from '../../../shared/deletion/users.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { deliveryRecords } from '../../../shared/webhooks/records.ts';
import { inParallel } from '../../support/clients/client.ts';
import { Receiver } from '../../support/fixtures/receiver.ts';
import { storedUsers } from '../../support/fixtures/stored-users.ts';
import { newCredentials, newUsersProject, type SignIn, type UsersProject } from '../../support/fixtures/users.ts';
import { makeWebhook } from '../../support/fixtures/webhooks.ts';

const dayMs = 24 * 3600_000;
let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { anonymous: true } } });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const enter = async () => {
  const { body } = await project.auth<SignIn>('POST', 'anonymous', { headers: { 'x-refresh-token-mode': 'header' } });
  return { ...body, refreshToken: body.refreshToken ?? '' };
};

const isThere = async ({ userId }: SignIn): Promise<boolean> =>
  (await storedUsers(project, { _id: new ObjectId(userId) })).length > 0;

const start = Date.now();
const onDay = (days: number) => vi.spyOn(clock, 'now').mockReturnValue(start + days * dayMs);

/** Runs the job once a day, as the schedule does, up to and with a day. */
const runUntil = async (from: number, to: number): Promise<void> => {
  for (let day = from; day <= to; day++) {
    onDay(day);
    await removeIdleUsers(project.id);
  }
};

describe('an anonymous user', () => {
  test('an anonymous user is removed when the last session ended 30 days ago', async () => {
    const user = await enter();
    await runUntil(1, 36);
    expect(await isThere(user)).toBe(true);
    await runUntil(38, 38);
    expect(await isThere(user)).toBe(false);
  });

  test('is deleted by the second of two late rounds of 10 concurrent runs', async () => {
    const user = await enter();
    onDay(90);
    await inParallel(10, () => removeIdleUsers(project.id));
    await inParallel(10, () => removeIdleUsers(project.id));
    expect(await isThere(user)).toBe(false);
  });

  test('an anonymous user is kept when the last refresh was less than 30 days ago', async () => {
    const user = await enter();
    let token = user.refreshToken;
    for (let day = 6; day <= 48; day += 6) {
      onDay(day);
      token = (await rotate(projectScope(project.id), token, { ip: '192.0.2.1', userAgent: 'test' })).refreshToken;
      await runUntil(day, day + 5);
    }
    await runUntil(54, 84);
    expect(await isThere(user)).toBe(true);
    await runUntil(85, 87);
    expect(await isThere(user)).toBe(false);
  });

  test('a deletion publishes the user’s last state', async () => {
    const receiver = await Receiver.start();
    const hooked = await newUsersProject({ settings: { signIn: { anonymous: true } } });
    const { _id } = await makeWebhook(hooked, receiver, { events: ['user.deleted'] });
    const { body } = await hooked.auth<SignIn>('POST', 'anonymous');
    onDay(90);
    await removeIdleUsers(hooked.id);
    await removeIdleUsers(hooked.id);
    const told = { webhookId: new ObjectId(_id), thing: `user/${body.userId}` };
    const row = await deliveryRecords.findOne(told);
    expect(row).toMatchObject({ type: 'user.deleted', nextAt: new Date(clock.now()) });
    const lastView = await lastViewOf(body.userId, row?.lastView ?? '');
    expect(lastView).toMatchObject({ user: { _id: body.userId, isAnonymous: true } });
    await receiver.close();
  });

  test('is kept after an upgrade, and other users are never checked', async () => {
    const [upgraded, plain] = [await enter(), await project.newUser()];
    const options = { token: upgraded.accessToken, body: newCredentials() };
    expect((await project.auth('POST', 'anonymous/upgrade', options)).status).toBe(200);
    onDay(365);
    await removeIdleUsers(project.id);
    expect([await isThere(upgraded), await isThere(plain)]).toEqual([true, true]);
  });
});
