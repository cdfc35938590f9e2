import { ObjectId } from 'mongodb';
import { checkEmail } from '../auth/email.ts';
import { checkPassword, hashPassword } from '../auth/passwords.ts';
import { startSession } from '../auth/refresh-sessions.ts';
import { type Client, developerScope } from '../auth/session-keys.ts';
import { onControl } from '../clients/mongo.ts';
import { clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { type DeveloperRecord, toDeveloper } from './developer-record.ts';
import { type SignIn, signIn } from './sign-in.ts';

/** An e-mail address and a password as a caller sent them. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

const insert = async (record: DeveloperRecord): Promise<void> => {
  try {
    await onControl((db) => db.collection<DeveloperRecord>('developers').insertOne(record));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'DUPLICATE_VALUE') throw error;
    throw new AppError('DEVELOPER_EXISTS', 'An account with this e-mail address exists already. Log in instead.', {
      cause: error,
    });
  }
};

/**
 * Opens a developer's account on the free plan and signs him in. Taken address → 409 `DEVELOPER_EXISTS`, and one winner of
 * any number of equal calls; an address or password that cannot be → 400 `VALIDATION_FAILED`.
 */
export const registerDeveloper = async (credentials: Credentials, client: Client): Promise<SignIn> => {
  const email = checkEmail(credentials.email);
  const passwordHash = await hashPassword(checkPassword(credentials.password));
  const now = new Date(clock.now());
  const record: DeveloperRecord = {
    _id: new ObjectId(),
    email,
    passwordHash,
    plan: 'free',
    emailVerified: false,
    createdAt: now,
    updatedAt: now,
  };
  await insert(record);
  return signIn(toDeveloper(record), await startSession(developerScope, record._id.toHexString(), client));
};
