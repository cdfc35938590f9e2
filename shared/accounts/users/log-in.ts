import { onManaged } from '../../clients/mongo.ts';
import type { Collection } from '../../collections/collection.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import { canonicalEmail } from '../email.ts';
import { countAttempt, forgiveAttempt } from '../lockout.ts';
import { hashPassword, needsRehash, verifyPassword } from '../passwords.ts';
import { type Client, projectScope } from '../session-keys.ts';
import { findUserByEmail } from './find-user.ts';
import { openSession } from './open-session.ts';
import type { SignIn } from './sign-up.ts';
import type { UserRecord } from './user-record.ts';
import { userView } from './user-view.ts';

/** An e-mail address and a password as a caller sent them. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The one refusal of a log-in, whatever is wrong with it. */
const invalidCredentials = (): AppError => new AppError('INVALID_CREDENTIALS', 'Invalid email or password');

/** Rehashes the password with the current cost, unless it has been changed in the meantime. */
const rehash = async (project: Project, { _id, password: stored }: UserRecord, password: string): Promise<void> => {
  const stronger = await hashPassword(password);
  await onManaged(project, (db) =>
    db
      .collection<UserRecord>(usersCollection)
      .updateOne(
        { _id, password: { $eq: stored } },
        { $set: { password: stronger, updatedAt: new Date(clock.now()) } },
      ),
  );
};

/**
 * Signs a user in with their password (contract 3, "Login"). Unknown address, wrong password and disabled user are the
 * same 401 `INVALID_CREDENTIALS` in the same time; too many of them 429 `ACCOUNT_LOCKED`, counted before the password
 * is looked at.
 */
export const logIn = async (
  project: Project,
  users: Collection,
  { email, password }: Credentials,
  client: Client,
): Promise<SignIn> => {
  const attempt = { scope: projectScope(project.id), address: canonicalEmail(email), ip: client.ip };
  await countAttempt(attempt);
  const record = await findUserByEmail(project, email);
  const matches = await verifyPassword(password, record?.password);
  if (!record || !matches || record.isDisabled) throw invalidCredentials();
  await forgiveAttempt(attempt);
  if (needsRehash(record.password)) await rehash(project, record, password);
  return { ...(await openSession(project, record, client)), user: userView(users, record) };
};
