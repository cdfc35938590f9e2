import { beforeEach, describe, expect, test } from 'vitest';
import { onManaged } from '../../../shared/persistence/mongo.ts';
import { mailTo } from '../../support/clients/inbox.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject, users } from '../../support/fixtures/users.ts';

const invalid = { status: 401, body: { code: 'REFRESH_TOKEN_INVALID' } };

let project: UsersProject;

beforeEach(async () => {
  project = await newUsersProject();
});

const drop = () => project.developer.dashboard('DELETE', `/api/projects/${project.id}/collections/users`);

describe('deleting the users collection', () => {
  test('401 for every earlier refresh token, also when the users collection is created again', async () => {
    const [user, other] = [await project.newUser(), await project.newUser()];
    const rotated = await project.refresh(other.refreshToken);
    expect(rotated.status).toBe(200);

    expect((await drop()).status).toBe(200);
    await project.addCollection(users);

    expect(await project.refresh(user.refreshToken)).toMatchObject(invalid);
    expect(await project.refresh(rotated.body.refreshToken)).toMatchObject(invalid);
    expect(await project.auth('GET', 'me', { token: user.accessToken })).toMatchObject({ status: 401 });
    expect((await project.logIn({ email: user.email, password: user.password })).status).toBe(401);
  });

  test('201 for a sign-up with the same address, with a new session and email', async () => {
    const { email, password } = await project.newUser();
    await mailTo(email);
    await drop();
    await project.addCollection(users);

    const again = await project.signUp({ email, password }, { 'x-refresh-token-mode': 'header' });
    expect(again.status).toBe(201);
    expect((await project.refresh(again.body.refreshToken)).status).toBe(200);
    await mailTo(email, 2);
  });

  test('200, and documents written meanwhile are gone when it is created again', async () => {
    const domain = await domainProject(project);
    await drop();
    await onManaged(domain, (db) => db.collection('users').insertOne({ email: 'late@example.com' }));
    await project.addCollection(users);
    expect(await onManaged(domain, (db) => db.collection('users').countDocuments())).toBe(0);
  });
});
