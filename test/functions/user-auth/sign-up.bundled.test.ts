import { beforeAll, describe, expect, test } from 'vitest';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { cookieOf, inParallel, tally } from '../../support/clients/client.ts';
import { mailTo } from '../../support/clients/inbox.ts';
import { newDeveloper } from '../../support/fixtures/project.ts';
import { domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import { claimsOf, newCredentials, newUsersProject, type UsersProject, users } from '../../support/fixtures/users.ts';

const dateForm = ' in ISO 8601, such as 2026-01-31 or 2026-01-31T09:30:00Z';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

const invalid = (field: string, message: string) => ({
  status: 400,
  body: { code: 'VALIDATION_FAILED', message: `Validation failed: ${field} ${message}`, errors: [{ field }] },
});

describe('sign-up', () => {
  test('201 with the user, an access token that works and the refresh token in a cookie', async () => {
    const { email, password } = newCredentials();
    const profile = { name: 'Ann', age: 40, born: '1985-05-06', address: { city: 'Bern' }, tags: ['a'] };
    const answer = await project.signUp({ ...profile, email: `  ${email.toUpperCase()} `, password });
    expect(answer.status).toBe(201);
    const { accessToken, token, userId, user, ...rest } = answer.body;
    expect(rest).toEqual({ success: true, message: 'Account created', expiresIn: '15m' });
    expect(token).toBe(accessToken);
    expect(user).toEqual({
      ...profile,
      _id: userId,
      email,
      role: 'reader',
      born: '1985-05-06T00:00:00.000Z',
      emailVerified: false,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updatedAt: user.createdAt,
    });
    expect(claimsOf(accessToken)).toMatchObject({ sub: userId, userId, projectId: project.id, aud: project.id });
    expect(answer.cookies).toEqual([
      expect.stringMatching(
        new RegExp(`^refresh_${project.id}=[\\w-]{79}; HttpOnly; Path=/api/userAuth; Max-Age=604800; SameSite=Lax$`),
      ),
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const me = await project.auth('GET', 'me', { token: accessToken });
    expect(me).toMatchObject({ status: 200, body: { success: true, data: user } });
  });

  test('201 with the refresh token also in the body when the client asks for it', async () => {
    const answer = await project.signUp(newCredentials(), { 'x-refresh-token-mode': 'header' });
    expect(cookieOf(answer)).toBe(`refresh_${project.id}=${answer.body.refreshToken}`);
    expect(await project.refresh(answer.body.refreshToken)).toMatchObject({ status: 200 });
  });

  test('201 with a cookie for https and other sites when the service is reached so', async () => {
    const answer = await project.signUp(newCredentials(), { 'x-forwarded-proto': 'https' });
    expect(answer.cookies[0]).toMatch(/; SameSite=None; Secure$/);
  });

  test('201 with an email that has the code and a link to the site', async () => {
    const { email } = await project.newUser();
    const mail = await mailTo(email);
    expect(mail.text).toMatch(/https:\/\/app\.example\.com\/verify-email\?token=[\w-]{64}/);
    expect(mail.text).toMatch(/\b[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}\b/);
  });

  test('201 and only schema and service fields are stored, the password as a hash', async () => {
    const { email, password } = newCredentials();
    const forged = {
      _id: 'f'.repeat(24),
      emailVerified: true,
      isDisabled: true,
      hasPassword: false,
      identities: [{ provider: 'github', id: '1', key: 'github:1' }],
      planSlot: 7,
      credentialVersion: 99,
      isDeleted: true,
      deletedAt: '2020-01-01',
      createdAt: '2020-01-01',
      updatedAt: '2020-01-01',
      unknown: 'dropped',
      'name.x': 'dropped',
      constructor: 'dropped',
    };
    const answer = await project.signUp({ ...forged, email, password });
    expect(answer).toMatchObject({ status: 201, body: { user: { emailVerified: false } } });
    const [record] = await storedUsers(project, { email });
    const { _id, createdAt, updatedAt, password: hash, ...rest } = record ?? {};
    expect(String(_id)).toBe(answer.body.userId);
    expect(String(_id)).not.toBe(forged._id);
    expect(hash).toMatch(/^\$2[aby]\$04\$.{53}$/);
    expect(Date.now() - Number(createdAt)).toBeLessThan(60_000);
    expect(updatedAt).toEqual(createdAt);
    expect(rest).toEqual({
      email,
      role: 'reader',
      emailVerified: false,
      hasPassword: true,
      _signIn: { devices: ['node'] },
      credentialVersion: 0,
      isDeleted: false,
      deletedAt: null,
      _rev: 1,
    });
    expect(JSON.stringify(answer.body)).not.toMatch(/\$2[aby]\$|hasPassword|planSlot|credentialVersion/);
  });

  test.each<[string, object, string, string]>([
    ['no address', { email: undefined }, 'email', 'is required'],
    [
      'an address that cannot be',
      { email: 'plain' },
      'email',
      'must be an email address of at most 254 characters, in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)',
    ],
    [
      'an address of 255 characters',
      { email: `${'a'.repeat(243)}@example.com` },
      'email',
      'must be an email address of at most 254 characters, in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)',
    ],
    [
      'a header in the address',
      { email: 'a@b.co\r\nBcc: c@d.co' },
      'email',
      'must be an email address of at most 254 characters, in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)',
    ],
    ['no password', { password: undefined }, 'password', 'is required'],
    ['a password of 7 bytes', { password: '1234567' }, 'password', 'must be 8 to 72 bytes long'],
    ['a password of 37 two-byte letters', { password: 'é'.repeat(37) }, 'password', 'must be 8 to 72 bytes long'],
    ['NUL in the password', { password: '12345678\0' }, 'password', 'must not contain a NUL character'],
    ['a number where text belongs', { name: 7 }, 'name', 'must be a String'],
    ['text where a number belongs', { age: '40' }, 'age', 'must be a Number'],
    ['a day that does not exist', { born: '2023-02-30' }, 'born', `must be a Date${dateForm}`],
    ['a sub-field missing', { address: {} }, 'address.city', 'is required'],
    ['an element of another type', { tags: ['a', 1] }, 'tags.1', 'must be a String'],
  ])('400 for %s', async (_what, change, field, message) => {
    const answer = await project.signUp({ ...newCredentials(), ...change });
    expect(answer).toMatchObject(invalid(field, message));
    expect(answer.cookies).toEqual([]);
  });

  test.each([72, 8])('201 for a password of exactly %i bytes, which is not truncated', async (bytes) => {
    const { email } = newCredentials();
    const password = `${'x'.repeat(bytes - 2)}é`;
    expect(await project.signUp({ email, password })).toMatchObject({ status: 201 });
    expect(await project.logIn({ email, password })).toMatchObject({ status: 200 });
    expect(await project.logIn({ email, password: `${password}x` })).toMatchObject({ status: 401 });
  });

  test('409 USER_EXISTS for a taken address in any case', async () => {
    const { email, password } = await project.newUser();
    const again = await project.signUp({ email: ` ${email.toUpperCase()}`, password });
    expect(again).toMatchObject({ status: 409, body: { code: 'USER_EXISTS' }, cookies: [] });
  });

  test('409 DUPLICATE_VALUE for a taken username', async () => {
    await project.newUser({ username: 'taken' });
    const answer = await project.signUp({ ...newCredentials(), username: 'taken' });
    expect(answer).toMatchObject({ status: 409, body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'username' }] } });
  });

  test('201 once and 409 otherwise for 50 equal concurrent calls', async () => {
    const credentials = newCredentials();
    expect(tally(await inParallel(50, () => project.signUp(credentials)))).toEqual({ 201: 1, 409: 49 });
    expect(await storedUsers(project, { email: credentials.email })).toHaveLength(1);
  });

  test('201 for the same address in another project', async () => {
    const { email, password } = await project.newUser();
    const other = await newUsersProject({ owner: project.developer });
    expect(await other.signUp({ email, password })).toMatchObject({ status: 201 });
  });
});

describe('a rejected sign-up', () => {
  test('403 SIGNUP_DISABLED while sign-ups are closed; existing users sign in', async () => {
    const closed = await newUsersProject({ settings: { allowPublicSignup: false } });
    const credentials = newCredentials();
    expect(await closed.signUp(credentials)).toMatchObject({ status: 403, body: { code: 'SIGNUP_DISABLED' } });
    const made = await closed.developer.dashboard('POST', `/api/projects/${closed.id}/users`, credentials);
    expect(made.status).toBe(201);
    expect(await closed.logIn(credentials)).toMatchObject({ status: 200 });
  });

  test('403 AUTH_DISABLED while authentication is off', async () => {
    const off = await newUsersProject({ settings: { authEnabled: false } });
    expect(await off.signUp(newCredentials())).toMatchObject({ status: 403, body: { code: 'AUTH_DISABLED' } });
  });

  test('403 AUTH_DISABLED without a users collection', async () => {
    const none = await newUsersProject({ collection: { ...users, name: 'people' } });
    expect(await none.signUp(newCredentials())).toMatchObject({ status: 403, body: { code: 'AUTH_DISABLED' } });
  });
});

describe('the plan’s 200 users', () => {
  const fill = async (of: UsersProject, count: number, withSlots: boolean): Promise<void> => {
    const records = Array.from({ length: count }, (_, planSlot) => ({
      email: `filler-${planSlot}@example.com`,
      password: 'none',
      ...(withSlots ? { planSlot } : {}),
      isDeleted: false,
      deletedAt: null,
    }));
    await onProject(await domainProject(of), (db) => db.collection('users').insertMany(records));
  };
  const planLimit = { status: 403, body: { code: 'PLAN_LIMIT' } };

  test('403 PLAN_LIMIT for all except two of 50 concurrent sign-ups with 198 users', async () => {
    const free = await newUsersProject({ owner: await newDeveloper('free') });
    await fill(free, 198, true);
    expect(tally(await inParallel(50, () => free.signUp(newCredentials())))).toEqual({ 201: 2, 403: 48 });
    expect(await free.signUp(newCredentials())).toMatchObject(planLimit);
    expect(await storedUsers(free)).toHaveLength(200);
  });

  test('403 PLAN_LIMIT counts users from a plan without limit', async () => {
    const free = await newUsersProject({ owner: await newDeveloper('free') });
    await fill(free, 199, false);
    expect(tally(await inParallel(50, () => free.signUp(newCredentials())))).toEqual({ 201: 1, 403: 49 });
  });

  test('201 again after a user was deleted', async () => {
    const free = await newUsersProject({ owner: await newDeveloper('free') });
    await fill(free, 199, true);
    const { body } = await free.signUp(newCredentials());
    expect(await free.signUp(newCredentials())).toMatchObject(planLimit);
    await free.developer.dashboard('DELETE', `/api/projects/${free.id}/users/${body.userId}`);
    expect(await free.signUp(newCredentials())).toMatchObject({ status: 201 });
  });
});
