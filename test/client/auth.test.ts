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

describe('accounts', () => {
  test('sign up, in and out; what they write is theirs', async () => {
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

  test('come back from linking a provider as they were, with nothing to exchange', async () => {
    const app = asApp(project);
    await app.auth.signup(newCredentials());
    const token = await app.auth.token();
    vi.stubGlobal('location', { search: '?provider=github&linked=true', hash: '' });
    await app.auth.exchange();
    expect(await app.auth.token()).toBe(token);
  });

  test('delete themselves with their password, and are signed out here', async () => {
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

  test('mails for passwords and addresses are answered alike for everybody', async () => {
    const app = asApp(project);
    const { email } = newCredentials();
    await app.auth.requestPasswordReset({ email });
    await app.auth.resendVerificationOtp({ email });
    await expect(app.auth.verifyEmail({ email, otp: 'AAAA-AAAA' })).rejects.toMatchObject({ status: 400 });
    await expect(app.auth.resetPassword({ token: 'x', newPassword: 'correct horse' })).rejects.toMatchObject({
      status: 400,
    });
  });

  test('a public profile needs nobody to be signed in', async () => {
    const app = asApp(project);
    const username = `ann-${Date.now()}`;
    await app.auth.signup({ ...newCredentials(), username });
    expect(await asApp(project).auth.publicProfile(username)).toMatchObject({ username });
  });

  test('the address of a social sign-in is one to go to; who comes back from it without a code is told so', async () => {
    await expect(asApp(project).auth.exchange()).rejects.toMatchObject({ status: 400 });
    const answer = await fetch(asApp(project).auth.social('github'), { redirect: 'manual' });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toContain('error=');
  });
});

test.each([
  ['?error=Access%20denied', '', { code: 'SOCIAL_SIGN_IN_FAILED', message: 'Access denied' }],
  ['?provider=github', '#ticket=abc', { status: 401, code: 'SECOND_FACTOR_REQUIRED', ticket: 'abc' }],
])('the callback page throws what its address says: %s %s', async (search, hash, failure) => {
  vi.stubGlobal('location', { search, hash });
  await expect(asApp(project).auth.exchange()).rejects.toMatchObject({ name: 'BasaltError', ...failure });
});

test('a refusal carries the ticket of its second factor', async () => {
  const proxy = await HttpProxy.start();
  const body = { code: 'SECOND_FACTOR_REQUIRED', message: 'Enter your code.', ticket: 'abc' };
  proxy.meet({ status: 401, body });
  await expect(asApp(project, proxy.url).auth.login(newCredentials())).rejects.toMatchObject({ status: 401, ...body });
  await proxy.close();
});

describe('a session', () => {
  test('is kept where it was told to be, so that the next page has it', async () => {
    const storage = shared();
    await asApp(project, undefined, { storage }).auth.signup(newCredentials());
    expect(await asApp(project, undefined, { storage }).auth.me()).toMatchObject({ emailVerified: false });
    await asApp(project, undefined, { storage }).auth.logout();
    expect(storage.items.size).toBe(0);
  });

  test('is renewed before it expires, once for all that ask at once', async () => {
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
    ['no locks, as on plain http', () => vi.stubGlobal('navigator', {})],
  ])('is renewed once by several tabs, which share their storage: with %s', async (_with, prepare) => {
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

  test('stays though two tabs renewed it at once, which the service gives the same', async () => {
    vi.stubGlobal('navigator', {});
    const common = shared();
    const both = Promise.withResolvers<void>();
    let refreshes = 0;
    /** Neither is answered before both have asked. */
    const together: typeof fetch = async (address, init) => {
      if (String(address).endsWith('/refresh-token')) {
        refreshes += 1;
        if (refreshes === 2) both.resolve();
        await both.promise;
      }
      return fetch(address, init);
    };
    /** A tab that does not see the mark of another in time. */
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

  test('is renewed though a tab was closed while it renewed it, where there are no locks', async () => {
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

  test('is renewed where the service takes its token no longer, though this clock says otherwise', async () => {
    const storage = shared();
    const app = asApp(project, undefined, { storage });
    await app.auth.signup(newCredentials());
    const [[name = '', text = ''] = []] = [...storage.items];
    const kept = JSON.parse(text) as { accessToken: string };
    storage.items.set(name, JSON.stringify({ ...kept, accessToken: `${kept.accessToken.slice(0, -4)}AAAA` }));
    expect(await app.auth.me()).toBeDefined();
    expect(await app.tasks.insert({ title: 'still mine' })).toMatchObject({ title: 'still mine' });
  });

  test('ends where it cannot be renewed, and says why', async () => {
    const storage = shared();
    const app = asApp(project, undefined, { storage });
    const { refreshToken } = await app.auth.signup(newCredentials());
    await project.auth('POST', 'logout', { headers: { 'x-refresh-token': refreshToken } });
    inHours(1);
    await expect(app.auth.me()).rejects.toMatchObject({ code: 'TOKEN_MISSING' });
    expect(storage.items.size).toBe(0);
  });

  test('stays where the service cannot be reached for a while', async () => {
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

  test('that somebody ends while it is renewed stays ended', async () => {
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

  test.each(['signup', 'anonymous'] as const)('begins one time though the answers of its %s are lost', async (way) => {
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

  test('stays though the answers of its renewal are lost', async () => {
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

  test('stays though its page was closed before the answer of a renewal came', async () => {
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

  test('is nothing that a secret key asks for', async () => {
    const storage = { getItem: vi.fn(), setItem: vi.fn(), removeItem: vi.fn() };
    const { asServer } = await import('./shop.ts');
    expect((await asServer(project, undefined, { storage }).tasks.list()).total).toBeGreaterThan(0);
    expect(storage.getItem).not.toHaveBeenCalled();
  });
});
