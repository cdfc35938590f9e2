import { beforeAll, describe, expect, test } from 'vitest';
import { listUsers } from '../../../shared/accounts/users/manage-users.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { mailsTo, mailTo } from '../../support/clients/inbox.ts';
import { passkeySettings, passkeysOf } from '../../support/fixtures/passkeys.ts';
import { newProject } from '../../support/fixtures/project.ts';
import { changeStoredUsers, domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import {
  newCredentials,
  newUsersProject,
  type SignIn,
  type UsersProject,
  users,
} from '../../support/fixtures/users.ts';

interface Answered {
  readonly success: boolean;
  readonly code?: string;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Listed {
  readonly data: { readonly items: readonly Readonly<Record<string, unknown>>[]; readonly total: number };
}

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
});

const send = <Body = Answered>(method: string, path = '', body?: unknown, of = project) =>
  of.developer.dashboard<Body>(method, `/api/projects/${of.id}/users${path}`, body);

const notFound = { status: 404, body: { code: 'USER_NOT_FOUND' } };
const inHeader = { 'x-refresh-token-mode': 'header' };

describe('the sign-in methods of an end user', () => {
  test('200 with the fields that users see of themselves, without passwords and keys', async () => {
    const of = await newUsersProject({ settings: passkeySettings });
    const { userId, token } = await of.newUser();
    const { id: credential } = await passkeysOf(of).add(token);
    const shown = await send('GET', `/${userId}/security`, undefined, of);
    expect(shown).toMatchObject({
      status: 200,
      body: { data: { password: true, providers: [], passkeys: [{ lastUsedAt: null }], secondFactor: null } },
    });
    const own = await of.auth<Answered>('GET', 'security', { token });
    expect(shown.body.data).toEqual(own.body.data);
    expect(JSON.stringify(shown.body)).not.toMatch(new RegExp(`${credential}|\\$2[aby]\\$`));
  });
});

describe('creating an end user', () => {
  test('201 with the user, who can sign in; no email is sent', async () => {
    const { email, password } = newCredentials();
    const answer = await send('POST', '', { email: email.toUpperCase(), password, name: 'Ann', age: 40 });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      success: true,
      message: 'User created',
      data: {
        _id: expect.stringMatching(/^[0-9a-f]{24}$/),
        email,
        name: 'Ann',
        age: 40,
        role: 'reader',
        emailVerified: false,
        disabled: false,
        createdAt: expect.stringMatching(/Z$/),
        updatedAt: expect.stringMatching(/Z$/),
      },
    });
    expect(await project.logIn({ email, password })).toMatchObject({ status: 200 });
    await project.newUser().then((other) => mailTo(other.email));
    expect(await mailsTo(email)).toHaveLength(0);
  });

  test.each<[string, object, string]>([
    ['no address', { email: undefined }, 'email'],
    ['an operator for an address', { email: { $ne: null } }, 'email'],
    ['an address that cannot be', { email: 'plain' }, 'email'],
    ['a password that is too short', { password: 'short' }, 'password'],
    ['a field of another type', { age: '40' }, 'age'],
    ['an unknown field', { unknown: 1 }, 'unknown'],
    ['a field of the service', { emailVerified: true }, 'emailVerified'],
    ['a hidden field', { planSlot: 1 }, 'planSlot'],
    ['a system field', { _id: 'f'.repeat(24) }, '_id'],
  ])('400 for %s', async (_name, change, field) => {
    const answer = await send('POST', '', { ...newCredentials(), ...change });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field }] } });
  });

  test('409 when the address is taken, also for all except one of 50 concurrent requests', async () => {
    const credentials = newCredentials();
    expect(tally(await inParallel(50, () => send('POST', '', credentials)))).toEqual({ 201: 1, 409: 49 });
    expect(await send('POST', '', credentials)).toMatchObject({ status: 409, body: { code: 'USER_EXISTS' } });
  });
});

describe('reading end users', () => {
  test('200 with a page of users, the newest first, without hashes', async () => {
    const own = await newUsersProject({ owner: project.developer });
    const made = [];
    for (let n = 0; n < 3; n++) made.push(await own.newUser());
    const first = await send<Listed>('GET', '?limit=2', undefined, own);
    expect(first).toMatchObject({ status: 200, body: { data: { total: 3, page: 1, limit: 2 } } });
    const second = await send<Listed>('GET', '?limit=2&page=2', undefined, own);
    const items = [...first.body.data.items, ...second.body.data.items];
    expect(items.map(({ _id }) => _id)).toEqual(made.map(({ userId }) => userId).reverse());
    expect(items[0]).toEqual({ ...made[2]?.user, disabled: false });
    expect(JSON.stringify(items)).not.toMatch(/\$2[aby]\$|"password"|credentialVersion|hasPassword/);
  });

  test('200 with users whose address has this prefix, by address, in any case; special characters match themselves', async () => {
    const own = await newUsersProject({ owner: project.developer });
    for (const email of ['ann.b@example.com', 'ann.a@example.com', 'annXa@example.com', 'bann.a@example.com']) {
      expect(await send('POST', '', { ...newCredentials(), email }, own)).toMatchObject({ status: 201 });
    }
    const found = async (query: string) => {
      const { status, body } = await send<Listed>('GET', `?${query}`, undefined, own);
      expect(status, query).toBe(200);
      return { total: body.data.total, emails: body.data.items.map(({ email }) => email) };
    };
    const both = ['ann.a@example.com', 'ann.b@example.com'];
    expect(await found('email=ann.')).toEqual({ total: 2, emails: both });
    expect(await found('email=%20ANN.')).toEqual({ total: 2, emails: both });
    expect(await found('email=ann.&limit=1&page=2')).toEqual({ total: 2, emails: both.slice(1) });
    expect(await found('email=ann.a@example.com')).toEqual({ total: 1, emails: both.slice(0, 1) });
    for (const none of ['.*', '^ann', 'zoe', '%24ne', 'ann.a@example.com.']) {
      expect(await found(`email=${none}`), none).toEqual({ total: 0, emails: [] });
    }
  });

  test('200 with the users of these ids; ids of others are left out', async () => {
    const own = await newUsersProject({ owner: project.developer });
    const made = [await own.newUser(), await own.newUser(), await own.newUser()].map(({ userId }) => userId);
    const asked = [made[2]?.toUpperCase(), made[0], '0'.repeat(24)].join();
    const { status, body } = await send<Listed>('GET', `?ids=${asked}`, undefined, own);
    expect(status).toBe(200);
    expect(body.data.total).toBe(2);
    expect(body.data.items.map(({ _id }) => _id)).toEqual([made[2], made[0]]);
    const page = await send<Listed>('GET', `?ids=${made.join()}&limit=2`, undefined, own);
    expect(page.body.data).toMatchObject({ total: 3, items: [{ _id: made[2] }, { _id: made[1] }] });
    const hundredAndOne = Array.from({ length: 101 }, () => '0'.repeat(24)).join();
    for (const ids of ['', 'a', `${made[0]},`, hundredAndOne]) {
      const answer = await send('GET', `?ids=${ids}`, undefined, own);
      expect(answer, ids).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
      expect(answer.body.message).toMatch(/^ids/);
    }
  });

  test.each(['email=', 'email=%20', `email=${'a'.repeat(255)}`, 'email=a&email=b', 'email[$ne]=a'])(
    '400 INVALID_QUERY for %s',
    async (query) => {
      const answer = await send('GET', `?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
      expect(answer.body.message).toMatch(/^email/);
    },
  );

  test('400 RESULT_TOO_LARGE for a page of large profiles, which is not read to the end; single profiles are returned', async () => {
    const own = await newUsersProject({ owner: project.developer });
    for (let n = 0; n < 5; n++) await own.newUser();
    await changeStoredUsers(own, {}, { name: 'x'.repeat(3_500_000) });
    const refused = await send('GET', '', undefined, own);
    expect(refused).toMatchObject({ status: 400, body: { code: 'RESULT_TOO_LARGE' } });
    expect(refused.body.message).toContain('Use a smaller limit');
    const page = listUsers(await domainProject(own), { page: 1, limit: 100 });
    await expect(page).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
    expect(await send<Listed>('GET', '?limit=1&page=5', undefined, own)).toMatchObject({
      status: 200,
      body: { data: { total: 5 } },
    });
  });

  test('200 for one; 404 for an unknown or malformed id, or one of another project', async () => {
    const { userId, user } = await project.newUser();
    expect((await send('GET', `/${userId}`)).body).toMatchObject({ success: true, data: { ...user, disabled: false } });
    const other = await newUsersProject({ owner: project.developer });
    const stranger = await other.newUser();
    for (const id of ['f'.repeat(24), 'x', '%24ne', stranger.userId]) {
      for (const [method, path, body] of [
        ['GET', `/${id}`],
        ['PATCH', `/${id}`, { name: 'Bea' }],
        ['DELETE', `/${id}`],
        ['GET', `/${id}/security`],
        ['GET', `/${id}/sessions`],
        ['DELETE', `/${id}/sessions`],
        ['DELETE', `/${id}/sessions/${'f'.repeat(24)}`],
      ] as const) {
        expect(await send(method, path, body), `${method} ${path}`).toMatchObject(notFound);
      }
    }
    expect(await other.refresh(stranger.refreshToken)).toMatchObject({ status: 200 });
  });

  test('404 COLLECTION_NOT_FOUND without a users collection; 200 with one while authentication is off', async () => {
    const none = await newProject([], project.developer);
    const path = `/api/projects/${none.id}/users`;
    const refused = { status: 404, body: { code: 'COLLECTION_NOT_FOUND' } };
    expect(await none.developer.dashboard('GET', path)).toMatchObject(refused);
    expect(await none.developer.dashboard('POST', path, newCredentials())).toMatchObject(refused);
    await none.addCollection(users);
    expect(await none.developer.dashboard('GET', path)).toMatchObject({ status: 200, body: { data: { total: 0 } } });
  });
});

describe('changing an end user', () => {
  test('200 for fields of the schema, which keeps the sessions', async () => {
    const { userId, user, refreshToken } = await project.newUser({ name: 'Ann', address: { city: 'Bern' } });
    const answer = await send('PATCH', `/${userId}`, { name: 'Bea', 'address.city': 'Basel' });
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { _id: userId, email: user.email, name: 'Bea', address: { city: 'Basel' } } },
    });
    expect(await project.refresh(refreshToken)).toMatchObject({ status: 200 });
  });

  test('200 for another address, which becomes unverified; the same address stays verified', async () => {
    const user = await project.newUser();
    const path = `/${user.userId}`;
    const verify = {
      token: new URL(/https:\S+/.exec((await mailTo(user.email)).text)?.[0] ?? '').searchParams.get('token'),
    };
    await project.auth('POST', 'verify-email', { body: verify, token: user.accessToken });
    expect(await send('PATCH', path, { email: user.email.toUpperCase() })).toMatchObject({
      status: 200,
      body: { data: { email: user.email, emailVerified: true } },
    });
    const moved = `moved-${user.email}`;
    expect(await send('PATCH', path, { email: ` ${moved.toUpperCase()}` })).toMatchObject({
      status: 200,
      body: { data: { email: moved, emailVerified: false } },
    });
    expect(await project.logIn(user)).toMatchObject({ status: 401 });
    expect(await project.logIn({ email: moved, password: user.password })).toMatchObject({ status: 200 });
  });

  test('200 for another password, which ends every session', async () => {
    const user = await project.newUser();
    const password = 'set by the developer';
    expect(await send('PATCH', `/${user.userId}`, { password })).toMatchObject({ status: 200 });
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 401 });
    expect(await project.logIn(user)).toMatchObject({ status: 401 });
    expect(await project.logIn({ email: user.email, password })).toMatchObject({ status: 200 });
    const [record] = await storedUsers(project, { email: user.email });
    expect(record?.password).toMatch(/^\$2[aby]\$04\$/);
  });

  test('200 for disabling, also twice, and for enabling again', async () => {
    const user = await project.newUser();
    for (let time = 0; time < 2; time++) {
      const answer = await send('PATCH', `/${user.userId}`, { disabled: true });
      expect(answer).toMatchObject({ status: 200, body: { data: { disabled: true } } });
    }
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 401 });
    expect(await send('PATCH', `/${user.userId}`, { disabled: false })).toMatchObject({
      body: { data: { disabled: false } },
    });
    expect(await project.logIn(user)).toMatchObject({ status: 200 });
  });

  test('200 for a user without an address, who is no longer anonymous with an address and a password', async () => {
    const of = await newUsersProject({ settings: { signIn: { anonymous: true } } });
    const { body } = await of.auth<SignIn>('POST', 'anonymous', { headers: inHeader });
    const change = (changes: object) => send('PATCH', `/${body.userId}`, changes, of);
    expect(await change({ disabled: true })).toMatchObject({ status: 200, body: { data: { disabled: true } } });
    expect(await of.refresh(body.refreshToken ?? '')).toMatchObject({ status: 401 });
    const { email, password } = newCredentials();
    const addressed = await change({ email, disabled: false });
    expect(addressed).toMatchObject({ status: 200, body: { data: { email, disabled: false, isAnonymous: true } } });
    expect((await change({ password })).body.data).not.toHaveProperty('isAnonymous');
    const [record] = await storedUsers(of, { email });
    expect(record?._signIn).not.toHaveProperty('anonymous');
    expect(await of.logIn({ email, password })).toMatchObject({ status: 200, body: { userId: body.userId } });
  });

  test('200 for disabling with another field; neither affects the other', async () => {
    const { userId, email } = await project.newUser();
    const both = await send('PATCH', `/${userId}`, { disabled: true, name: 'Changed' });
    expect(both).toMatchObject({ status: 200, body: { data: { disabled: true, name: 'Changed' } } });
    const [record] = await storedUsers(project, { email });
    expect(record).toMatchObject({ isDisabled: true, name: 'Changed' });
    expect(record).not.toHaveProperty('disabled');
    const other = await send('PATCH', `/${userId}`, { name: 'Again' });
    expect(other).toMatchObject({ status: 200, body: { data: { disabled: true, name: 'Again' } } });
  });

  test.each<[string, unknown, string]>([
    ['nothing', {}, 'NOTHING_TO_UPDATE'],
    ['an unknown field', { unknown: 1 }, 'VALIDATION_FAILED'],
    ['a field of the service', { emailVerified: true }, 'VALIDATION_FAILED'],
    ['a hidden field by its path', { 'identities.0': {} }, 'VALIDATION_FAILED'],
    ['an operator', { $set: { disabled: true } }, 'VALIDATION_FAILED'],
    ['text for disabled', { disabled: 'true' }, 'VALIDATION_FAILED'],
    ['null for a password', { password: null }, 'VALIDATION_FAILED'],
    ['a password that is too short', { password: 'short' }, 'VALIDATION_FAILED'],
    ['an address that cannot be', { email: 'plain' }, 'VALIDATION_FAILED'],
    ['a field of another type', { age: '40' }, 'VALIDATION_FAILED'],
    ['a list', [], 'INVALID_BODY'],
  ])('400 for %s, and nothing changes', async (_name, body, code) => {
    const { userId, email } = await project.newUser();
    const before = await storedUsers(project, { email });
    expect(await send('PATCH', `/${userId}`, body)).toMatchObject({ status: 400, body: { code } });
    expect(await storedUsers(project, { email })).toEqual(before);
  });

  test('409 when another user has the address or username', async () => {
    const first = await project.newUser({ username: 'dashboard-first' });
    const { userId } = await project.newUser();
    const address = await send('PATCH', `/${userId}`, { email: first.email });
    expect(address).toMatchObject({ status: 409, body: { code: 'USER_EXISTS' } });
    const username = await send('PATCH', `/${userId}`, { username: 'dashboard-first' });
    expect(username).toMatchObject({ status: 409, body: { code: 'DUPLICATE_VALUE' } });
  });
});

describe('deleting an end user', () => {
  test('200 when the user, the sessions and the address are deleted; 404 the next time', async () => {
    const user = await project.newUser();
    expect(await send('DELETE', `/${user.userId}`)).toMatchObject({
      status: 200,
      body: { data: { _id: user.userId }, message: 'User deleted' },
    });
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 401 });
    expect(await project.logIn(user)).toMatchObject({ status: 401 });
    expect(await storedUsers(project, { email: user.email })).toEqual([]);
    expect(await send('DELETE', `/${user.userId}`)).toMatchObject(notFound);
    expect(await project.signUp(user)).toMatchObject({ status: 201 });
  });
});

describe('the sessions of an end user', () => {
  test('200 with a page of them; one ends, then all', async () => {
    const user = await project.newUser();
    const tokens = [user.refreshToken];
    for (let n = 0; n < 2; n++) tokens.push((await project.logIn(user, inHeader)).body.refreshToken ?? '');
    const path = `/${user.userId}/sessions`;
    const page = await send<Listed>('GET', `${path}?limit=2`);
    expect(page).toMatchObject({ status: 200, body: { data: { total: 3, page: 1, limit: 2 } } });
    expect(page.body.data.items).toHaveLength(2);
    expect(Object.keys(page.body.data.items[0] ?? {}).sort()).toEqual([
      '_id',
      'createdAt',
      'ip',
      'lastUsedAt',
      'userAgent',
    ]);
    const id = String(page.body.data.items[0]?._id);
    expect(await send('DELETE', `${path}/${id}`)).toMatchObject({ status: 200, body: { data: { _id: id } } });
    expect(await send('DELETE', `${path}/${id}`)).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
    const refreshed = [];
    for (const token of tokens) refreshed.push(await project.refresh(token));
    expect(tally(refreshed)).toEqual({ 200: 2, 401: 1 });
    expect(await send('DELETE', path)).toMatchObject({ status: 200, body: { message: 'Sessions revoked' } });
    for (const { body } of refreshed) {
      if (body.refreshToken) expect(await project.refresh(body.refreshToken)).toMatchObject({ status: 401 });
    }
    expect(await send<Listed>('GET', path)).toMatchObject({ body: { data: { items: [], total: 0 } } });
    expect(await project.logIn(user)).toMatchObject({ status: 200 });
  });

  test('404 for another user’s session, which stays active', async () => {
    const [one, other] = [await project.newUser(), await project.newUser()];
    const list = await send<Listed>('GET', `/${other.userId}/sessions`);
    const id = String(list.body.data.items[0]?._id);
    expect(await send('DELETE', `/${one.userId}/sessions/${id}`)).toMatchObject({ status: 404 });
    expect(await project.refresh(other.refreshToken)).toMatchObject({ status: 200 });
  });
});

test.each([
  ['PATCH', '', { disabled: true }],
  ['DELETE', '', undefined],
  ['GET', '/security', undefined],
  ['GET', '/sessions', undefined],
  ['DELETE', '/sessions', undefined],
])('404 for %s {id}%s with the id of another project’s user, who does not change', async (method, path, body) => {
  const other = await newUsersProject();
  const theirs = await other.newUser();
  expect(await send(method, `/${theirs.userId}${path}`, body)).toMatchObject(notFound);
  expect(await other.auth('POST', 'login', { body: { email: theirs.email, password: theirs.password } })).toMatchObject(
    {
      status: 200,
    },
  );
});
