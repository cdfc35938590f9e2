import { hashSync } from '@node-rs/bcrypt';
import { afterEach, expect, test, vi } from 'vitest';
import { signIn } from '../../../shared/accounts/sign-in.ts';
import { userSignIns } from '../../../shared/accounts/users/users.ts';
import { beforeChange } from '../../support/faults/before-change.ts';
import { changeStoredUsers, domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import { newUsersProject } from '../../support/fixtures/users.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('a sign-in that rehashes the password does not overwrite a concurrent change', async () => {
  const project = await newUsersProject();
  const { email, password } = await project.newUser();
  await changeStoredUsers(project, { email }, { password: hashSync(password, { cost: 6 }) });
  const changed = hashSync('changed meanwhile', { cost: 4 });
  const store = userSignIns(await domainProject(project));
  beforeChange('updateOne', 1, () => changeStoredUsers(project, { email }, { password: changed }));
  await signIn(store, { email, password }, { ip: '192.0.2.1', userAgent: 'test' });
  vi.restoreAllMocks();
  expect((await storedUsers(project, { email }))[0]?.password).toBe(changed);
});
