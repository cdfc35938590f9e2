import { Collection, MongoNetworkError, ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { deleteUser } from '../../../shared/accounts/users/manage-users.ts';
import { domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const send = (method: string, path: string, body?: unknown) =>
  project.developer.dashboard<{ readonly data: Readonly<Record<string, unknown>> }>(
    method,
    `/api/projects/${project.id}/users/${path}`,
    body,
  );

const cutAtTheUser = () =>
  vi.spyOn(Collection.prototype, 'deleteOne').mockRejectedValueOnce(new MongoNetworkError('connection closed'));

const isStored = async (userId: string): Promise<boolean> =>
  (await storedUsers(project)).some(({ _id }) => new ObjectId(userId).equals(_id as ObjectId));

describe('503 for an interrupted deletion of a user', () => {
  test('disables the user and ends the sessions; the user can sign in immediately when enabled again', async () => {
    const { userId, email, password, accessToken, refreshToken } = await project.newUser();
    cutAtTheUser();
    await expect(deleteUser(await domainProject(project), userId)).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
    });
    expect((await send('GET', userId)).body.data).toMatchObject({ disabled: true });
    expect((await project.refresh(refreshToken)).status).toBe(401);
    expect((await project.logIn({ email, password })).status).toBe(401);
    expect((await project.auth('GET', 'me', { token: accessToken })).status).toBe(401);
    expect((await send('PATCH', userId, { disabled: false })).status).toBe(200);
    expect((await project.logIn({ email, password })).status).toBe(200);
  });

  test('can be retried', async () => {
    const { userId } = await project.newUser();
    const domain = await domainProject(project);
    cutAtTheUser();
    await expect(deleteUser(domain, userId)).rejects.toThrow();
    expect(await isStored(userId)).toBe(true);
    await deleteUser(domain, userId);
    expect(await isStored(userId)).toBe(false);
    await expect(deleteUser(domain, userId)).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
  });
});
