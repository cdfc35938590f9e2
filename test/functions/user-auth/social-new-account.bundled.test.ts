import { describe, expect, inject, test } from 'vitest';
import { call, inParallel } from '../../support/clients/client.ts';
import { newSocialProject, signInWith, storedUsers } from '../../support/clients/social.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

const email = 'ada@example.com';
const password = 'the first password';

const post = (project: TestProject, path: string, body: unknown) =>
  call(inject('stack').baseUrl, 'POST', `/api/userAuth/${path}`, { key: project.publishableKey, body });

describe('a new account', () => {
  test('has the provider’s values that the schema accepts', async () => {
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

  test('gets its own user name when the provider’s is taken', async () => {
    const project = await newSocialProject();
    await post(project, 'signup', { email: 'first@example.com', password, username: 'octocat' });
    expect((await signInWith(project, 'github', 'octocat')).error).toBeNull();
    const names = (await storedUsers(project)).map(({ username }) => username);
    expect(names).toEqual(['octocat', expect.stringMatching(/^octocat-[0-9a-f]{6}$/)]);
  });

  describe('when another account has a unique value:', () => {
    const required = { type: 'String', required: true };
    const base = [
      { key: 'email', ...required },
      { key: 'password', ...required },
    ];
    const withField = (field: Readonly<Record<string, unknown>>) =>
      newSocialProject({ collection: { name: 'users', schema: [...base, field] } });

    test('302 without an optional name', async () => {
      const project = await withField({ key: 'name', type: 'String', unique: true });
      const first = await post(project, 'signup', { email: 'first@example.com', password, name: 'Ada Lovelace' });
      expect(first.status).toBe(201);
      expect((await signInWith(project, 'github', 'ada')).error).toBeNull();
      expect(await storedUsers(project)).toEqual([
        expect.objectContaining({ name: 'Ada Lovelace' }),
        expect.not.objectContaining({ name: expect.anything() }),
      ]);
    });

    test.each([
      ['a name that is required', 'name', { key: 'name', ...required, unique: true }],
      ['a field with a default', 'team', { key: 'team', type: 'String', unique: true, default: 'red' }],
    ])('302 with an error that names %s', async (_what, name, field) => {
      const project = await withField(field);
      const first = await post(project, 'signup', { email: 'first@example.com', password, name: 'Ada Lovelace' });
      expect(first.status).toBe(201);
      const { error } = await signInWith(project, 'github', 'ada');
      expect(error).toContain(`Another account of this app already has this ${name}`);
      expect(await storedUsers(project)).toHaveLength(1);
    });
  });

  test('is one, with any number of concurrent sign-ins and sign-ups of its address', async () => {
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
