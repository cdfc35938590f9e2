import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { canonicalEmail } from '../email.ts';
import { countAttempt, forgiveAttempt } from '../lockout.ts';
import { hashPassword, needsRehash, verifyPassword } from '../passwords.ts';
import { type Client, developerScope } from '../session-keys.ts';
import type { DeveloperRecord } from './developer-record.ts';
import { findDeveloperRecord } from './find-developer.ts';
import type { Credentials } from './register-developer.ts';
import { type SignIn, signIn } from './sign-in.ts';

/** Rehashes the password with the current cost, unless it has been changed in the meantime. */
const rehash = async ({ _id, passwordHash }: DeveloperRecord, password: string): Promise<void> => {
  const stronger = await hashPassword(password);
  await onControl((db) =>
    db
      .collection<DeveloperRecord>('developers')
      .updateOne(
        { _id, passwordHash: { $eq: passwordHash } },
        { $set: { passwordHash: stronger, updatedAt: new Date(clock.now()) } },
      ),
  );
};

/**
 * Signs a developer in. Unknown address and wrong password are the same 401 `INVALID_CREDENTIALS` in the same time; too
 * many of them are 429 `ACCOUNT_LOCKED`, decided before the password is looked at.
 */
export const logInDeveloper = async ({ email, password }: Credentials, client: Client): Promise<SignIn> => {
  const address = canonicalEmail(email);
  const attempt = { scope: developerScope, address, ip: client.ip };
  await countAttempt(attempt);
  const record = await findDeveloperRecord({ email: { $eq: address } });
  if (!(await verifyPassword(password, record?.passwordHash)) || !record) {
    throw new AppError('INVALID_CREDENTIALS', 'Invalid email or password');
  }
  await forgiveAttempt(attempt);
  if (needsRehash(record.passwordHash)) await rehash(record, password);
  return signIn(record, client);
};
