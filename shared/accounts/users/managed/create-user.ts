import type { JsonObject } from '../../../documents/document.ts';
import type { Project } from '../../../projects/project.ts';
import { checkEmail } from '../../email.ts';
import { checkPassword, hashPassword } from '../../passwords.ts';
import { insertUser } from '../insert-user.ts';
import { newProfile } from '../profile.ts';
import { type ManagedUser, requireKnownFields, toManagedUser, usersOf } from './managed-user.ts';

/**
 * A user whom the developer makes: also while public sign-ups are closed. Refusals as `signUp` has them; no mail is
 * sent.
 */
export const createUser = async (
  project: Project,
  body: JsonObject & { readonly email: string; readonly password: string },
): Promise<ManagedUser> => {
  const users = await usersOf(project);
  requireKnownFields(users, body, ['email', 'password']);
  const email = checkEmail(body.email);
  const password = checkPassword(body.password);
  const profile = newProfile(users, body);
  const passwordHash = await hashPassword(password);
  const user = { email, passwordHash, hasPassword: true, emailVerified: false, identities: [], profile };
  return toManagedUser(users, await insertUser(project, users, user));
};
