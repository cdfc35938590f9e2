import { afterEach, describe, expect, test, vi } from 'vitest';
import { hashPassword } from '../../../shared/accounts/passwords.ts';
import { linkAccount, type NewIdentity } from '../../../shared/accounts/social/link.ts';
import { requireProvider } from '../../../shared/accounts/social/providers.ts';
import { createAccount } from '../../../shared/accounts/users/sign-up.ts';
import { requireUsers, userAccounts } from '../../../shared/accounts/users/users.ts';
import { beforeChange } from '../../support/faults/before-change.ts';
import { changeStoredUsers, domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const link = async (of: UsersProject, email: string) => {
  const project = await domainProject(of);
  const profile = { id: email, name: undefined, username: undefined, addresses: [{ email, verified: true }] };
  const users = await requireUsers(project);
  const open = (newcomer: NewIdentity) => createAccount(project, users, newcomer);
  return linkAccount(userAccounts(project), open, requireProvider('github'), profile);
};

const disabled = { code: 'SOCIAL_SIGN_IN_FAILED', message: expect.stringContaining('disabled') };

describe('an account that changes between lookup and link', () => {
  test('403 for a verified one that is disabled meanwhile: no identity is added', async () => {
    const project = await newUsersProject();
    const { email } = await project.newUser();
    await changeStoredUsers(project, { email }, { emailVerified: true });
    beforeChange('findOneAndUpdate', 1, () => changeStoredUsers(project, { email }, { isDisabled: true }));
    await expect(link(project, email)).rejects.toMatchObject(disabled);
    expect((await storedUsers(project, { email }))[0]?.identities ?? []).toEqual([]);
  });

  test('403 for an unverified one that is disabled after its credentials were discarded', async () => {
    const project = await newUsersProject();
    const { email } = await project.newUser();
    beforeChange('findOneAndUpdate', 2, () => changeStoredUsers(project, { email }, { isDisabled: true }));
    await expect(link(project, email)).rejects.toMatchObject(disabled);
    expect(await storedUsers(project, { email })).toMatchObject([{ emailVerified: false }]);
  });

  test('401 for a password that was set after the discard, which is discarded too', async () => {
    const project = await newUsersProject();
    const { email } = await project.newUser();
    const password = 'set between discard and link';
    const set = { password: await hashPassword(password), hasPassword: true };
    beforeChange('findOneAndUpdate', 2, () => changeStoredUsers(project, { email }, set));
    expect(await link(project, email)).toMatchObject({ linkedByEmail: true, account: { hasPassword: false } });
    vi.restoreAllMocks();
    expect(await project.logIn({ email, password })).toMatchObject({ status: 401 });
    expect(await storedUsers(project, { email })).toMatchObject([{ emailVerified: true, hasPassword: false }]);
  });

  test('200 by its password when its address was verified before the discard', async () => {
    const project = await newUsersProject();
    const user = await project.newUser();
    const { email } = user;
    beforeChange('findOneAndUpdate', 1, () => changeStoredUsers(project, { email }, { emailVerified: true }));
    expect(await link(project, email)).toMatchObject({ linkedByEmail: true });
    vi.restoreAllMocks();
    expect(await project.logIn(user)).toMatchObject({ status: 200 });
    // Sessions end before the discard, so that none outlives it.
    expect(await project.refresh(user.refreshToken)).toMatchObject({ status: 401 });
  });

  test('200 with a new account when another account has the address meanwhile', async () => {
    const project = await newUsersProject();
    const { email, userId } = await project.newUser();
    await changeStoredUsers(project, { email }, { emailVerified: true });
    beforeChange('findOneAndUpdate', 1, () => changeStoredUsers(project, { email }, { email: `moved-${email}` }));
    const linked = await link(project, email);
    expect(linked).toMatchObject({ isNew: true });
    expect(linked.account._id.toHexString()).not.toBe(userId);
    expect((await storedUsers(project, { email: `moved-${email}` }))[0]?.identities ?? []).toEqual([]);
  });

  test('200 for two concurrent sign-ins, with one identity', async () => {
    const project = await newUsersProject();
    const { email } = await project.newUser();
    await changeStoredUsers(project, { email }, { emailVerified: true });
    const key = `github:${email}`;
    const identities = [{ provider: 'github', id: email, key }];
    beforeChange('findOneAndUpdate', 1, () => changeStoredUsers(project, { email }, { identities }));
    expect(await link(project, email)).toMatchObject({ isNew: false, linkedByEmail: false });
    expect(await storedUsers(project, { email })).toMatchObject([{ identities }]);
  });

  test('401 for the password of an account whose address was unverified at the link', async () => {
    const project = await newUsersProject();
    const user = await project.newUser();
    const { email } = user;
    await changeStoredUsers(project, { email }, { emailVerified: true });
    beforeChange('findOneAndUpdate', 1, () => changeStoredUsers(project, { email }, { emailVerified: false }));
    expect(await link(project, email)).toMatchObject({ linkedByEmail: true, account: { hasPassword: false } });
    vi.restoreAllMocks();
    expect(await project.logIn(user)).toMatchObject({ status: 401 });
  });

  test('503 TOO_MANY_WRITERS for one that is trashed meanwhile: no identity is added', async () => {
    const project = await newUsersProject();
    const { email } = await project.newUser();
    await changeStoredUsers(project, { email }, { emailVerified: true });
    beforeChange('findOneAndUpdate', 1, () => changeStoredUsers(project, { email }, { isDeleted: true }));
    await expect(link(project, email)).rejects.toMatchObject({ code: 'TOO_MANY_WRITERS' });
    expect((await storedUsers(project, { email }))[0]?.identities ?? []).toEqual([]);
  });
});
