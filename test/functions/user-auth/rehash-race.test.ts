import { hashSync } from '@node-rs/bcrypt';
import { afterEach, expect, test, vi } from 'vitest';
import { logIn } from '../../../shared/accounts/users/log-in.ts';
import { requireUsers } from '../../../shared/accounts/users/require-users.ts';
import { beforeChange } from '../../support/faults/before-change.ts';
import { changeStoredUsers, domainProject, storedUsers } from '../../support/worlds/stored-users.ts';
import { newUsersProject } from '../../support/worlds/users.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('a log-in that hashes the password anew leaves alone one that was changed meanwhile', async () => {
  const project = await newUsersProject();
  const { email, password } = await project.newUser();
  await changeStoredUsers(project, { email }, { password: hashSync(password, { cost: 6 }) });
  const changed = hashSync('changed meanwhile', { cost: 4 });
  const domain = await domainProject(project);
  const users = await requireUsers(domain);
  beforeChange('updateOne', 1, () => changeStoredUsers(project, { email }, { password: changed }));
  await logIn(domain, users, { email, password }, { ip: '192.0.2.1', userAgent: 'test' });
  vi.restoreAllMocks();
  expect((await storedUsers(project, { email }))[0]?.password).toBe(changed);
});
