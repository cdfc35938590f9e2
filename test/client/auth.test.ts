import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import type { SessionStorage } from '../../client/src/index.ts';
import { HttpProxy } from '../support/faults/http-proxy.ts';
import { newCredentials, type UsersProject } from '../support/fixtures/users.ts';
import { asApp, newShop } from './shop.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newShop();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Storage that several tabs share. */
const shared = () => {
  const items = new Map<string, string>();
  return {
    items,
    getItem: async (name: string) => items.get(name) ?? null,
    setItem: async (name: string, value: string) => items.set(name, value),
    removeItem: async (name: string) => items.delete(name),
  };
};

const inHours = (hours: number): void => {
  const real = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => real + hours * 3_600_000);
};

describe('user accounts', () => {
  test('sign up, sign in and sign out, and see only their own documents', async () => {
    const app = asApp(project);
    const credentials = newCredentials();
    const { user, userId } = await app.auth.signup({ ...credentials, name: 'Lin' });
    expect(user).toMatchObject({ _id: userId, name: 'Lin', email: credentials.email });
    expect(await app.auth.me()).toMatchObject({ _id: userId });
    expect(await app.auth.updateProfile({ name: 'Linh' })).toMatchObject({ name: 'Linh' });
    expect(await app.tasks.insert({ title: 'mine' })).toMatchObject({ userId });
    const other = asApp(project);
    await other.auth.signup(newCredentials());
    expect((await other.tasks.list()).items).toEqual([]);

    await app.auth.logout();
    expect(await app.auth.token()).toBeUndefined();
    await expect(app.tasks.list()).rejects.toMatchObject({ status: 401, code: 'TOKEN_MISSING' });
    await expect(app.auth.login({ ...credentials, password: 'wrong one' })).rejects.toMatchObject({
      code: 'INVALID_CREDENTIALS',
    });
    await app.auth.login(credentials);
    expect((await app.tasks.list()).items).toMatchObject([{ title: 'mine' }]);
    await app.auth.changePassword({ currentPassword: credentials.password, newPassword: 'another horse' });
    const sessions = await app.auth.sessions();
    expect(sessions.map(({ current }) => current)).toEqual([true]);
    await app.auth.deleteSession(sessions[0]?._id ?? '');
    expect(await app.auth.sessions().catch((error: unknown) => error)).toBeDefined();
  });

  test('stay signed in after they link a provider, and exchange needs no code', async () => {
    const app = asApp(project);
    await app.auth.signup(newCredentials());
    const token = await app.auth.token();
    vi.stubGlobal('location', { search: '?provider=github&linked=true', hash: '' });
    await app.auth.exchange();
    expect(await app.auth.token()).toBe(token);
  });

  test('are deleted with their password and signed out', async () => {
    const app = asApp(project);
    const credentials = newCredentials();
    await app.auth.signup(credentials);
    await expect(app.auth.deleteAccount({ password: 'wrong one' })).rejects.toMatchObject({
      code: 'INVALID_CREDENTIALS',
    });
    expect(await app.auth.token()).toBeDefined();
    await app.auth.deleteAccount({ password: credentials.password });
    expect(await app.auth.token()).toBeUndefined();
    await expect(app.auth.login(credentials)).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
  });

  test('get the same response for password and verification emails when the address is unknown', async () => {
    const app = asApp(project);
    const { email } = newCredentials();
    await app.auth.requestPasswordReset({ email });
    await app.auth.resendVerificationOtp({ email });
    await expect(app.auth.verifyEmail({ email, otp: 'AAAA-AAAA' })).rejects.toMatchObject({ status: 400 });
    await expect(app.auth.resetPassword({ token: 'x', newPassword: 'correct horse' })).rejects.toMatchObject({
      status: 400,
    });
  });

  test('have a public profile that can be read without a session', async () => {
    const app = asApp(project);
    const username = `ann-${Date.now()}`;
    await app.auth.signup({ ...newCredentials(), username });
    expect(await asApp(project).auth.publicProfile(username)).toMatchObject({ username });
  });

  test('are redirected by the social sign-in URL, and exchange throws when there is no code', async () => {
    await expect(asApp(project).auth.exchange()).rejects.toMatchObject({ status: 400 });
    const answer = await fetch(asApp(project).auth.social('github'), { redirect: 'manual' });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toContain('error=');
  });
});

test.each([
  ['?error=Access%20denied', '', { code: 'SOCIAL_SIGN_IN_FAILED', message: 'Access denied' }],
  ['?provider=github', '#ticket=abc', { status: 401, code: 'SECOND_FACTOR_REQUIRED', ticket: 'abc' }],
])('exchange throws the error in the callback URL: %s %s', async (search, hash, failure) => {
  vi.stubGlobal('location', { search, hash });
  await expect(asApp(project).auth.exchange()).rejects.toMatchObject({ name: 'BasaltError', ...failure });
});

test('error of a sign-in contains the ticket for the second factor', async () => {
  const proxy = await HttpProxy.start();
  const body = { code: 'SECOND_FACTOR_REQUIRED', message: 'Enter your code.', ticket: 'abc' };
  proxy.meet({ status: 401, body });
  await expect(asApp(project, proxy.url).auth.login(newCredentials())).rejects.toMatchObject({ status: 401, ...body });
  await proxy.close();
});

describe('session', () => {
  test('is kept in the given storage for the next page', async () => {
    const storage = shared();
    await asApp(project, undefined, { storage }).auth.signup(newCredentials());
    expect(await asApp(project, undefined, { storage }).auth.me()).toMatchObject({ emailVerified: false });
    await asApp(project, undefined, { storage }).auth.logout();
    expect(storage.items.size).toBe(0);
  });

  test('is renewed before it expires, once for all concurrent requests', async () => {
    const proxy = await HttpProxy.start(inject('stack').baseUrl);
    const app = asApp(project, proxy.url);
    await app.auth.signup(newCredentials());
    const before = await app.auth.token();
    inHours(1);
    await Promise.all(Array.from({ length: 50 }, () => app.tasks.list()));
    const refreshes = proxy.asked.filter(({ path }) => path.endsWith('/refresh-token'));
    expect(refreshes).toHaveLength(1);
    expect(await app.auth.token()).not.toBe(before);
    await proxy.close();
  });

  test.each([
    ['locks', () => undefined],
    ['no locks, for example on plain HTTP', () => vi.stubGlobal('navigator', {})],
  ])('is renewed once for several tabs with the same storage: with %s', async (_with, prepare) => {
    prepare();
    const proxy = await HttpProxy.start(inject('stack').baseUrl);
    const storage = shared();
    const tabs = Array.from({ length: 5 }, () => asApp(project, proxy.url, { storage }));
    await tabs[0]?.auth.signup(newCredentials());
    inHours(1);
    const lists = await Promise.all(tabs.map((tab) => tab.tasks.list()));
    expect(lists.map(({ total }) => total)).toEqual([0, 0, 0, 0, 0]);
    expect(proxy.asked.filter(({ path }) => path.endsWith('/refresh-token'))).toHaveLength(1);
    expect(storage.items.size).toBe(1);
    await proxy.close();
  });

  test('continues when two tabs renew it at the same time without locks', async () => {
    vi.stubGlobal('navigator', {});
    const common = shared();
    const both = Promise.withResolvers<void>();
    let refreshes = 0;
    /** Holds each renewal until both tabs have sent theirs. */
    const together: typeof fetch = async (address, init) => {
      if (String(address).endsWith('/refresh-token')) {
        refreshes += 1;
        if (refreshes === 2) both.resolve();
        await both.promise;
      }
      return fetch(address, init);
    };
    /** A tab that does not see the mark of the other tab in time. */
    const tab = () => {
      const own = shared();
      const of = (name: string) => (name.endsWith(':renewing') ? own : common);
      const storage: SessionStorage = {
        getItem: (name) => of(name).getItem(name),
        setItem: (name, value) => of(name).setItem(name, value),
        removeItem: (name) => of(name).removeItem(name),
      };
      return asApp(project, undefined, { storage, fetch: together });
    };
    const [first, second] = [tab(), tab()];
    await first.auth.signup(newCredentials());
    inHours(1);
    const lists = await Promise.all([first.tasks.list(), second.tasks.list()]);
    expect(lists.map(({ total }) => total)).toEqual([0, 0]);
    expect(refreshes).toBe(2);
    expect(common.items.size).toBe(1);
  });

  test('is renewed without locks after a tab was closed during its renewal', async () => {
    vi.stubGlobal('navigator', {});
    const storage = shared();
    const app = asApp(project, undefined, { storage });
    await app.auth.signup(newCredentials());
    const [name = ''] = storage.items.keys();
    storage.items.set(`${name}:renewing`, `another ${Date.now() + 10_000}`);
    inHours(1);
    expect(await app.auth.me()).toBeDefined();
    expect([...storage.items.keys()]).toEqual([name]);
  });

  test('is renewed when the service rejects its token before it expires on the local clock', async () => {
    const storage = shared();
    const app = asApp(project, undefined, { storage });
    await app.auth.signup(newCredentials());
    const [[name = '', text = ''] = []] = [...storage.items];
    const kept = JSON.parse(text) as { accessToken: string };
    storage.items.set(name, JSON.stringify({ ...kept, accessToken: `${kept.accessToken.slice(0, -4)}AAAA` }));
    expect(await app.auth.me()).toBeDefined();
    expect(await app.tasks.insert({ title: 'still mine' })).toMatchObject({ title: 'still mine' });
  });

  test('ends with the error of the service when it cannot be renewed', async () => {
    const storage = shared();
    const app = asApp(project, undefined, { storage });
    const { refreshToken } = await app.auth.signup(newCredentials());
    await project.auth('POST', 'logout', { headers: { 'x-refresh-token': refreshToken } });
    inHours(1);
    await expect(app.auth.me()).rejects.toMatchObject({ code: 'TOKEN_MISSING' });
    expect(storage.items.size).toBe(0);
  });

  test('is kept while the service is unavailable', async () => {
    const proxy = await HttpProxy.start(inject('stack').baseUrl);
    const storage = shared();
    const app = asApp(project, proxy.url, { storage });
    await app.auth.signup(newCredentials());
    inHours(1);
    proxy.meet({
      status: 503,
      headers: { 'retry-after': '40' },
      body: { code: 'SERVICE_UNAVAILABLE', message: 'Later.' },
    });
    await expect(app.auth.me()).rejects.toMatchObject({ status: 503 });
    proxy.heal();
    expect(await app.auth.me()).toBeDefined();
    await proxy.close();
  });

  test('stays ended when another tab ends it during a renewal', async () => {
    const storage = shared();
    const proxy = await HttpProxy.start(inject('stack').baseUrl);
    const app = asApp(project, proxy.url, { storage });
    await app.auth.signup(newCredentials());
    inHours(1);
    const asked = proxy.meet(({ path }) => {
      if (path.endsWith('/refresh-token')) storage.items.clear();
      return undefined;
    });
    await expect(app.auth.me()).rejects.toMatchObject({ code: 'TOKEN_MISSING' });
    expect(asked()).toBeGreaterThanOrEqual(0);
    expect(storage.items.size).toBe(0);
    await proxy.close();
  });

  test.each(['signup', 'anonymous'] as const)('starts one time when the responses to its %s are lost', async (way) => {
    const { developer, id } = project;
    await developer.dashboard('PATCH', `/api/projects/${id}`, { signIn: { anonymous: true } });
    const proxy = await HttpProxy.start(inject('stack').baseUrl);
    const app = asApp(project, proxy.url);
    proxy.next('lose the answer', 'lose the answer');
    const { userId } = await (way === 'signup' ? app.auth.signup(newCredentials()) : app.auth.anonymous());
    expect((await app.auth.me())._id).toBe(userId);
    const keys = proxy.asked.filter(({ path }) => path.endsWith(way)).map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f]{32}$/)));
    expect(new Set(keys).size).toBe(1);
    await proxy.close();
  });

  test('is kept when the responses to its renewal are lost', async () => {
    const proxy = await HttpProxy.start(inject('stack').baseUrl);
    const app = asApp(project, proxy.url);
    await app.auth.signup(newCredentials());
    inHours(1);
    proxy.next('lose the answer', 'lose the answer');
    expect(await app.auth.me()).toBeDefined();
    const refreshes = proxy.asked.filter(({ path }) => path.endsWith('/refresh-token'));
    expect(refreshes).toHaveLength(3);
    expect(new Set(refreshes.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    inHours(1);
    expect(await app.auth.me()).toBeDefined();
    await proxy.close();
  });

  test('is kept when its page was closed before the response to a renewal', async () => {
    const storage = shared();
    const app = asApp(project, undefined, { storage });
    await app.auth.signup(newCredentials());
    const before = [...storage.items];
    inHours(1);
    await app.auth.me();
    storage.items.clear();
    for (const [name, text] of before) storage.items.set(name, text);
    expect(await asApp(project, undefined, { storage }).auth.me()).toBeDefined();
  });

  test('is not used by a client with a secret key', async () => {
    const storage = { getItem: vi.fn(), setItem: vi.fn(), removeItem: vi.fn() };
    const { asServer } = await import('./shop.ts');
    expect((await asServer(project, undefined, { storage }).tasks.list()).total).toBeGreaterThan(0);
    expect(storage.getItem).not.toHaveBeenCalled();
  });
});
