import { beforeAll, describe, expect, test } from 'vitest';
import { inParallel, tally } from '../../support/clients/client.ts';
import { newCredentials, newUsersProject, type UsersProject, users } from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  const unique = [{ fields: ['name', 'age'], ignoreCase: true }];
  project = await newUsersProject({ collection: { ...users, unique } });
});

const taken = { status: 409, body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'name, age' }] } };
const managed = (method: string, path = '', body?: object) =>
  project.developer.dashboard<{ data: { _id: string } }>(method, `/api/projects/${project.id}/users${path}`, body);

describe('fields of users that are unique together', () => {
  test('409 DUPLICATE_VALUE at sign-up and in the profile, 201 and 200 for other values', async () => {
    const ann = await project.newUser({ name: 'Ann', age: 30 });
    expect(await project.signUp({ ...newCredentials(), name: 'ANN', age: 30 })).toMatchObject(taken);
    const other = await project.newUser({ name: 'Ann', age: 31 });
    const change = (token: string, body: object) => project.auth('PUT', 'update-profile', { token, body });
    expect(await change(other.accessToken, { age: 30 })).toMatchObject(taken);
    expect((await change(ann.accessToken, { age: 32 })).status).toBe(200);
    expect((await change(other.accessToken, { age: 30 })).status).toBe(200);
  });

  test('may be missing in several users', async () => {
    for (let n = 0; n < 3; n += 1) expect((await project.signUp(newCredentials())).status).toBe(201);
  });

  test('201 for exactly one of 50 concurrent sign-ups with one value', async () => {
    const answers = await inParallel(50, (n) => project.signUp({ ...newCredentials(), name: n % 2 ? 'Bob' : 'BOB' }));
    expect(tally(answers)).toEqual({ 201: 1, 409: 49 });
  });

  test('409 DUPLICATE_VALUE when the dashboard creates or changes a user', async () => {
    const body = (more: object) => ({ ...newCredentials(), ...more });
    expect((await managed('POST', '', body({ name: 'Carol', age: 1 }))).status).toBe(201);
    expect(await managed('POST', '', body({ name: 'carol', age: 1 }))).toMatchObject(taken);
    const { data } = (await managed('POST', '', body({ name: 'Carol', age: 2 }))).body;
    expect(await managed('PATCH', `/${data._id}`, { age: 1 })).toMatchObject(taken);
  });

  test.each(['password', 'emailVerified', 'createdAt', 'tags', 'userId'])(
    '400 INVALID_SCHEMA for a list with %s',
    async (field) => {
      const path = `/api/projects/${project.id}/collections/users`;
      expect(await project.developer.dashboard('PUT', path, { unique: [['name', field]] })).toMatchObject({
        status: 400,
        body: { code: 'INVALID_SCHEMA', errors: [{ field: 'unique.0' }] },
      });
    },
  );
});
