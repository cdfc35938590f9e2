import type { Project } from '../../../projects/project.ts';
import { accountWithPassword, checkCredentials } from '../../sign-up.ts';
import { insertUser } from '../insert-user.ts';
import { newProfile } from '../profile.ts';
import type { SignUpBody } from '../sign-up.ts';
import { type ManagedUser, requireKnownFields, toManagedUser, usersOf } from './managed-user.ts';

/**
 * A user whom the developer makes: also while public sign-ups are closed. Refusals as `signUp` has them; no mail is
 * sent.
 */
export const createUser = async (project: Project, body: SignUpBody): Promise<ManagedUser> => {
  const users = await usersOf(project);
  requireKnownFields(users, body, ['email', 'password']);
  const credentials = checkCredentials(body);
  const profile = newProfile(users, body);
  const account = await accountWithPassword(credentials);
  return toManagedUser(users, await insertUser(project, users, { ...account, profile }));
};
