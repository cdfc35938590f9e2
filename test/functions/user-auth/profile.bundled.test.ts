import { beforeAll, describe, expect, test } from 'vitest';
import { type CollectionInput, newProject } from '../../support/fixtures/project.ts';
import { changeStoredUsers, storedUsers } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type SignIn, type UsersProject, users } from '../../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

const update = (token: string, body: unknown) => project.auth<SignIn>('PUT', 'update-profile', { token, body });

describe('me', () => {
  test('200 with the user, without service fields', async () => {
    const { token, user, email } = await project.newUser({ name: 'Ann' });
    await changeStoredUsers(project, { email }, { identities: [{ key: 'github:1' }], unknown: 'hidden', planSlot: 3 });
    const answer = await project.auth('GET', 'me', { token });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, data: user, message: 'User fetched successfully' });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['no token', {}, 'TOKEN_MISSING'],
    ['garbage', { token: 'a.b.c' }, 'TOKEN_INVALID'],
    ['another scheme', { headers: { authorization: 'Basic eA==' } }, 'TOKEN_MISSING'],
  ])('401 with %s', async (_name, options, code) => {
    expect(await project.auth('GET', 'me', options)).toMatchObject({ status: 401, body: { code } });
  });

  test('401 TOKEN_INVALID for a user of another project and a deleted user', async () => {
    const other = await newUsersProject({ owner: project.developer });
    const { token, userId } = await other.newUser();
    const refused = { status: 401, body: { code: 'TOKEN_INVALID' } };
    expect(await project.auth('GET', 'me', { token })).toMatchObject(refused);
    const tokenHere = await project.tokenFor(userId);
    expect(await project.auth('GET', 'me', { token: tokenHere })).toMatchObject(refused);
    await other.developer.dashboard('DELETE', `/api/projects/${other.id}/users/${userId}`);
    expect(await other.auth('GET', 'me', { token })).toMatchObject(refused);
  });
});

describe('update-profile', () => {
  test('200 with the sent fields changed and the others unchanged', async () => {
    const { token, user } = await project.newUser({ name: 'Ann', age: 40 });
    const answer = await update(token, { name: 'Bea', born: '2000-01-02', tags: ['a', 'b'], unknown: 'dropped' });
    expect(answer).toMatchObject({ status: 200, body: { success: true, message: 'Profile updated' } });
    expect(answer.body.user).toEqual({
      ...user,
      name: 'Bea',
      born: '2000-01-02T00:00:00.000Z',
      tags: ['a', 'b'],
      updatedAt: expect.any(String),
    });
    expect(answer.body).not.toHaveProperty('data');
    expect(await project.auth('GET', 'me', { token })).toMatchObject({ body: { data: answer.body.user } });
  });

  test('200 for a dotted key, which leaves its siblings', async () => {
    const { token } = await project.newUser({ address: { city: 'Bern', street: 'A' } });
    const answer = await update(token, { 'address.city': 'Basel' });
    expect(answer).toMatchObject({ status: 200, body: { user: { address: { city: 'Basel', street: 'A' } } } });
  });

  test('200 and protected fields do not change', async () => {
    const { token, email } = await project.newUser();
    const [before] = await storedUsers(project, { email });
    const forged = {
      email: 'other@example.com',
      password: 'another password',
      emailVerified: true,
      isDisabled: false,
      hasPassword: false,
      identities: [],
      'identities.0.key': 'github:1',
      planSlot: 1,
      credentialVersion: 7,
      'credentialVersion.x': 1,
      _id: 'f'.repeat(24),
      isDeleted: true,
      deletedAt: null,
      createdAt: '2020-01-01',
      'email.x': 'y',
      role: 'reader',
    };
    expect(await update(token, { ...forged, name: 'Ann' })).toMatchObject({ status: 200 });
    const [after] = await storedUsers(project, { _id: before?._id });
    expect(after).toEqual({ ...before, name: 'Ann', _rev: 2, updatedAt: after?.updatedAt });
  });

  test.each(['7', null, { a: 1 }, [1]])('200 for a user whose revision another program has set to %j', async (_rev) => {
    const { token, email } = await project.newUser();
    await changeStoredUsers(project, { email }, { _rev });
    expect(await update(token, { name: 'Counted' })).toMatchObject({ status: 200 });
    expect(await storedUsers(project, { email })).toMatchObject([{ name: 'Counted', _rev: 1 }]);
  });

  test.each<[string, unknown, string]>([
    ['nothing', {}, 'Send at least one field'],
    [
      'only what is dropped',
      { email: 'a@b.co', password: 'x', emailVerified: true, unknown: 1 },
      'except email, password',
    ],
  ])('400 NOTHING_TO_UPDATE for %s', async (_name, body, said) => {
    const { token } = await project.newUser();
    const answer = await update(token, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'NOTHING_TO_UPDATE' } });
    expect(JSON.stringify(answer.body)).toContain(said);
  });

  test.each<[string, unknown, string]>([
    ['a number where text belongs', { name: 1 }, 'VALIDATION_FAILED'],
    ['an operator where text belongs', { name: { $ne: null } }, 'VALIDATION_FAILED'],
    ['a sub-field missing', { address: {} }, 'VALIDATION_FAILED'],
    ['a path through text', { 'name.x': 1 }, 'INVALID_UPDATE'],
    ['two paths of which one contains the other', { address: { city: 'A' }, 'address.city': 'B' }, 'INVALID_UPDATE'],
    ['a list', [], 'INVALID_BODY'],
    ['text', '"x"', 'INVALID_BODY'],
  ])('400 for %s', async (_name, body, code) => {
    const { token } = await project.newUser();
    expect(await update(token, body)).toMatchObject({ status: 400, body: { code } });
  });

  test('401 without a token, and for a disabled or deleted user', async () => {
    const { token, userId } = await project.newUser();
    const path = `/api/projects/${project.id}/users/${userId}`;
    const body = { name: 'Bea' };
    expect(await project.auth('PUT', 'update-profile', { body })).toMatchObject({ status: 401 });
    await project.developer.dashboard('PATCH', path, { disabled: true });
    expect(await update(token, body)).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
    await project.developer.dashboard('DELETE', path);
    expect(await update(token, body)).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });

  test('409 DUPLICATE_VALUE for a taken username', async () => {
    await project.newUser({ username: 'first' });
    const { token } = await project.newUser({ username: 'second' });
    const answer = await update(token, { username: 'first' });
    expect(answer).toMatchObject({ status: 409, body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'username' }] } });
    expect(await update(token, { username: 'second' })).toMatchObject({ status: 200 });
  });
});

describe('a public profile', () => {
  const profile = (username: string, of = project) =>
    of.auth<{ data: Record<string, unknown> }>('GET', `public/${encodeURIComponent(username)}`);

  test('200 for anyone, without address, password and service fields', async () => {
    const username = 'Ann é/&?#';
    const { user } = await project.newUser({ username, name: 'Ann', age: 40 });
    const answer = await profile(username);
    const { email: _email, emailVerified: _verified, ...shown } = user;
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, data: shown, message: 'Profile fetched successfully' });
  });

  test.each(['nobody', '', ' ', '[object Object]', '{"$ne":null}', '$ne', '.*', '__proto__', 'x'.repeat(3000)])(
    '404 for %j',
    async (username) => {
      await project.newUser({ username: crypto.randomUUID() });
      const answer = await profile(username);
      expect(answer.status).toBe(404);
      expect(['USER_NOT_FOUND', 'NOT_FOUND']).toContain((answer.body as { code?: string }).code);
    },
  );

  test('404 for a disabled user and for a user of another project', async () => {
    const { userId } = await project.newUser({ username: 'gone' });
    await project.developer.dashboard('PATCH', `/api/projects/${project.id}/users/${userId}`, { disabled: true });
    expect(await profile('gone')).toMatchObject({ status: 404, body: { code: 'USER_NOT_FOUND' } });
    const other = await newUsersProject({ owner: project.developer });
    await other.newUser({ username: 'there' });
    expect(await profile('there')).toMatchObject({ status: 404 });
  });

  const plain = (users.schema ?? []).filter(({ key }) => key === 'email' || key === 'password');
  test.each<[string, CollectionInput]>([
    ['no username', { name: 'users', schema: plain }],
    ['a username that is a number', { name: 'users', schema: [...plain, { key: 'username', type: 'Number' }] }],
  ])('404 when the schema has %s', async (_name, collection) => {
    const other = await newUsersProject({ owner: project.developer, collection });
    await other.newUser();
    expect(await profile('undefined', other)).toMatchObject({ status: 404, body: { code: 'USER_NOT_FOUND' } });
  });
});

describe('the schema of users', () => {
  const own = [
    { key: 'email', type: 'String', required: true },
    { key: 'password', type: 'String', required: true },
  ];

  test.each(['isDisabled', 'hasPassword', 'identities', 'planSlot', 'credentialVersion'])(
    '400 INVALID_SCHEMA for the reserved field %s',
    async (key) => {
      const { id, developer } = await newProject([], project.developer);
      const schema = [...own, { key, type: 'String' }];
      const answer = await developer.dashboard('POST', `/api/projects/${id}/collections`, { name: 'users', schema });
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_SCHEMA', errors: [{ field: key }] } });
    },
  );

  test('201 with emailVerified as a read-only Boolean; 400 as another type', async () => {
    const named = (field: object): CollectionInput => ({
      name: 'users',
      schema: [...own, { key: 'emailVerified', ...field }],
    });
    const other = await newUsersProject({
      owner: project.developer,
      collection: named({ type: 'Boolean', required: true }),
    });
    const { user, token } = await other.newUser({ emailVerified: true });
    expect(user.emailVerified).toBe(false);
    const changed = await other.auth('PUT', 'update-profile', { token, body: { emailVerified: true } });
    expect(changed).toMatchObject({ status: 400, body: { code: 'NOTHING_TO_UPDATE' } });
    await expect(newUsersProject({ owner: project.developer, collection: named({ type: 'String' }) })).rejects.toThrow(
      'INVALID_SCHEMA',
    );
  });
});
