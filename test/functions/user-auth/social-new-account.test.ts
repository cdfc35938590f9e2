import { describe, expect, inject, test } from 'vitest';
import { call, inParallel } from '../../support/client.ts';
import type { TestProject } from '../../support/project.ts';
import { newSocialProject, signInWith, storedUsers } from '../../support/social.ts';

const email = 'ada@example.com';
const password = 'the first password';

const post = (project: TestProject, path: string, body: unknown) =>
  call(inject('stack').baseUrl, 'POST', `/api/userAuth/${path}`, { key: project.publishableKey, body });

describe('a new account', () => {
  test('has what the provider tells where the schema requires it, and nothing where it has another type', async () => {
    const schema = [
      { key: 'email', type: 'String', required: true },
      { key: 'password', type: 'String', required: true },
      { key: 'username', type: 'String', required: true, unique: true },
      { key: 'name', type: 'Number' },
    ];
    const project = await newSocialProject({ collection: { name: 'users', schema } });
    await signInWith(project, 'github', 'octocat');
    const [user] = await storedUsers(project);
    expect(user).toMatchObject({ username: 'octocat', hasPassword: false, emailVerified: true });
    expect(user).not.toHaveProperty('name');
    expect(user?.password).toMatch(/^\$2[aby]\$/);
  });

  test('gets a user name of its own where the provider’s is taken', async () => {
    const project = await newSocialProject();
    await post(project, 'signup', { email: 'first@example.com', password, username: 'octocat' });
    expect((await signInWith(project, 'github', 'octocat')).error).toBeNull();
    const names = (await storedUsers(project)).map(({ username }) => username);
    expect(names).toEqual(['octocat', expect.stringMatching(/^octocat-[0-9a-f]{6}$/)]);
  });

  test('is one, however many sign in and sign up with its address at once', async () => {
    const project = await newSocialProject();
    const [landings] = await Promise.all([
      inParallel(10, (index) =>
        index % 2 === 0 ? signInWith(project, 'github', 'ada') : signInWith(project, 'google', email),
      ),
      inParallel(5, () => post(project, 'signup', { email, password })),
    ]);
    expect(landings.filter(({ error }) => error !== null)).toEqual([]);
    const stored = await storedUsers(project);
    expect(stored).toHaveLength(1);
    expect(stored[0]?.identities?.map(({ provider }) => provider).sort()).toEqual(['github', 'google']);
    expect((await post(project, 'login', { email, password })).status).toBe(401);
  });
});
