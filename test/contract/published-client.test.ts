import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { codeIn, mailTo } from '../support/clients/inbox.ts';
import { publishedClient, refusedAs } from '../support/clients/published-client.ts';
import { notes, todos } from '../support/fixtures/collections.ts';
import { newCredentials, newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject();
  await project.addCollection(notes);
  await project.addCollection(todos);
  await project.addCollection({
    name: 'links',
    schema: [
      { key: 'note', type: 'Ref', ref: 'notes' },
      { key: 'title', type: 'String' },
    ],
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

const browser = () => publishedClient(project.publishableKey);
const server = () => publishedClient(project.secretKey);

/** Stores cookies as a browser does, for requests with credentials. */
const keepCookies = (): Map<string, string> => {
  const jar = new Map<string, string>();
  const plain = globalThis.fetch;
  vi.stubGlobal('fetch', async (url: string, options: RequestInit = {}) => {
    const headers = new Headers(options.headers);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    if (options.credentials === 'include' && cookie) headers.set('cookie', cookie);
    const response = await plain(url, { ...options, headers });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/Max-Age=0/.test(set)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  });
  return jar;
};

describe('the published JavaScript client: accounts', () => {
  test('signs up, reads and changes the profile, and reads the public profile', async () => {
    const client = browser();
    const { email, password } = newCredentials();
    const username = `ann-${email.slice(5, 21)}`;
    const signedUp = await client.auth.signUp({ email, password, username, name: 'Ann' });
    expect(signedUp).toMatchObject({ userId: expect.any(String), user: { email, username, name: 'Ann' } });
    expect(client.auth.getToken()).toBe(signedUp.accessToken);
    expect(client.auth.getRefreshToken()).toBe(signedUp.refreshToken);
    expect(await client.auth.me()).toMatchObject({ _id: signedUp.userId, email, username });
    const updated = await client.auth.updateProfile({ name: 'Bea' });
    expect(updated).toMatchObject({ message: 'Profile updated', user: { name: 'Bea' } });
    const shown = await browser().auth.publicProfile(username);
    expect(shown).toMatchObject({ _id: signedUp.userId, username, name: 'Bea' });
    expect(shown).not.toHaveProperty('email');
  });

  test('signs in, changes the password, refreshes with the stored token, and signs out', async () => {
    const client = browser();
    const { email, password } = await project.newUser();
    const warn = vi.spyOn(console, 'warn');
    const loggedIn = await client.auth.login({ email, password });
    expect(loggedIn).toMatchObject({ expiresIn: '15m', token: loggedIn.accessToken, refreshToken: expect.any(String) });
    const changed = await client.auth.changePassword({ currentPassword: password, newPassword: 'another password' });
    expect(changed).toMatchObject({ success: true, message: 'Password changed' });
    const refreshed = await client.auth.refreshToken();
    expect(refreshed.accessToken).not.toBe(loggedIn.accessToken);
    expect(client.auth.getRefreshToken()).toBe(refreshed.refreshToken);
    expect(refreshed.refreshToken).not.toBe(loggedIn.refreshToken);
    expect(await client.auth.me()).toMatchObject({ email });
    expect(await client.auth.logout()).toEqual({ success: true, message: 'Logged out' });
    expect(client.auth.getToken()).toBeUndefined();
    await expect(browser().auth.refreshToken(refreshed.refreshToken)).rejects.toMatchObject(refusedAs('AuthError'));
    expect(warn).not.toHaveBeenCalled();
  });

  test('refreshes and signs out with only the cookie', async () => {
    const jar = keepCookies();
    const client = browser();
    const { email, password } = await project.newUser();
    await client.auth.login({ email, password });
    client.auth.setRefreshToken(undefined);
    const first = [...jar.values()];
    const refreshed = await client.auth.refreshToken();
    expect(refreshed.accessToken).toEqual(expect.any(String));
    expect(refreshed).not.toHaveProperty('refreshToken');
    expect(client.auth.getRefreshToken()).toBeUndefined();
    expect([...jar.values()]).not.toEqual(first);
    expect(await client.auth.me()).toMatchObject({ email });
    expect(await client.auth.logout()).toEqual({ success: true, message: 'Logged out' });
    expect(jar.size).toBe(0);
    await expect(client.auth.refreshToken()).rejects.toMatchObject({
      message: 'Refresh token missing',
      statusCode: 401,
    });
  });

  test('verifies the email address and resets the password with emailed codes', async () => {
    const client = browser();
    const { email } = await project.newUser();
    const verified = await client.auth.verifyEmail({ email, otp: codeIn(await mailTo(email)) });
    expect(verified).toMatchObject({ success: true, message: expect.any(String) });
    expect(await client.auth.resendVerificationOtp({ email })).toMatchObject({ message: expect.any(String) });
    expect(await client.auth.requestPasswordReset({ email })).toMatchObject({ message: expect.any(String) });
    const otp = codeIn(await mailTo(email, 2));
    const reset = await client.auth.resetPassword({ email, otp, newPassword: 'another password' });
    expect(reset).toMatchObject({ success: true, message: expect.any(String) });
    await client.auth.login({ email, password: 'another password' });
    expect(await client.auth.me()).toMatchObject({ email, emailVerified: true });
  });

  test('throws a different error class for each kind of error', async () => {
    const client = browser();
    const { email, password } = await project.newUser();
    await expect(client.auth.signUp({ email, password })).rejects.toMatchObject({ statusCode: 409 });
    await expect(client.auth.signUp({ email: 'plain', password })).rejects.toMatchObject(refusedAs('ValidationError'));
    await expect(client.auth.me('garbage')).rejects.toMatchObject(refusedAs('AuthError'));
    await expect(client.auth.publicProfile('nobody')).rejects.toMatchObject(refusedAs('NotFoundError'));
    const wrong = () => client.auth.login({ email, password: 'not the password' });
    for (let n = 0; n < 5; n++) await expect(wrong()).rejects.toMatchObject({ message: 'Invalid email or password' });
    const locked = await wrong().catch((error: unknown) => error);
    expect(locked).toMatchObject(refusedAs('RateLimitError'));
    expect((locked as { readonly retryAfter: number }).retryAfter).toBeGreaterThan(800);
  });
});

describe('the published JavaScript client: documents', () => {
  let noteId: string;

  beforeEach(async () => {
    noteId = (await server().db.insert('notes', { text: 'first', n: 1 }))._id;
  });

  test('inserts, reads, changes and deletes with the secret key', async () => {
    const { db } = server();
    const inserted = await db.insert('notes', { text: 'a', meta: { views: 1 } });
    expect(inserted).toMatchObject({ _id: expect.stringMatching(/^[0-9a-f]{24}$/), text: 'a', isDeleted: false });
    expect(await db.getOne('notes', inserted._id)).toMatchObject(inserted);
    expect(await db.update('notes', inserted._id, { text: 'b' })).toMatchObject({ text: 'b', meta: { views: 1 } });
    expect(await db.patch('notes', inserted._id, { 'meta.views': 2 })).toMatchObject({ text: 'b', meta: { views: 2 } });
    expect(await db.delete('notes', inserted._id)).toEqual({ deleted: true });
    await expect(db.getOne('notes', inserted._id)).rejects.toMatchObject(refusedAs('NotFoundError'));
  });

  test('lists, filters, sorts, pages and counts, and lists nothing for a missing collection', async () => {
    const { db } = server();
    for (let n = 10; n < 15; n++) await db.insert('notes', { text: 'page', n });
    const page = await db.getAll('notes', { filter: { text: 'page' }, sort: 'n:desc', limit: 2, page: 2 });
    expect(page.map(({ n }) => n)).toEqual([12, 11]);
    expect(await db.count('notes', { filter: { text: 'page' } })).toBe(5);
    expect(await db.getAll('never')).toEqual([]);
  });

  test('populates references', async () => {
    const { db } = server();
    const link = await db.insert('links', { title: 'a', note: noteId });
    const note = { _id: noteId, text: 'first' };
    expect(await db.getOne('links', link._id, { populate: ['note'] })).toMatchObject({ note });
    expect((await db.getAll('links', { expand: 'note' }))[0]).toMatchObject({ note });
  });

  test('reads schemas', async () => {
    const schema = await server().schema.getSchema('links');
    expect(schema).toMatchObject({
      name: 'links',
      model: [{ key: 'note', type: 'Ref', ref: 'notes' }, { key: 'title' }],
    });
  });

  test('gives signed-in users access only to their own documents under row security', async () => {
    const client = browser();
    const { email, password, userId } = await project.newUser();
    await client.auth.login({ email, password });
    const todo = await client.db.insert('todos', { task: 'a' });
    expect(todo).toMatchObject({ task: 'a', done: false, userId });
    expect(await client.db.patch('todos', todo._id, { done: true })).toMatchObject({ done: true });
    expect(await client.db.getAll('todos')).toHaveLength(1);
    expect(await client.db.count('todos')).toBe(1);
    const other = browser();
    await other.auth.login(await project.newUser());
    expect(await other.db.getAll('todos')).toEqual([]);
    await expect(other.db.getOne('todos', todo._id)).rejects.toMatchObject(refusedAs('NotFoundError'));
    await expect(other.db.delete('todos', todo._id)).rejects.toMatchObject(refusedAs('AuthError'));
    await expect(browser().db.insert('todos', { task: 'b' })).rejects.toMatchObject(refusedAs('AuthError'));
    await expect(browser().db.insert('notes', { text: 'b' })).rejects.toMatchObject(refusedAs('AuthError'));
  });

  test('renews an invalid access token automatically and repeats the request', async () => {
    const client = browser();
    await client.auth.login(await project.newUser());
    client.auth.setToken('garbage');
    expect(await client.db.insert('todos', { task: 'a' })).toMatchObject({ task: 'a' });
    expect(client.auth.getToken()).not.toBe('garbage');
  });
});
