import { randomBytes } from 'node:crypto';
import { checkEmail } from '../email.ts';
import { hashPassword } from '../passwords.ts';
import { insertDeveloper } from './insert-developer.ts';

/** 96 random bits, to be typed once. */
const newPassword = (): string => randomBytes(12).toString('base64url');

/**
 * Opens a developer's account with a password made here, also where registration is closed; the operator's own act, no
 * route does it. Taken address → `DEVELOPER_EXISTS`, one that cannot be → `VALIDATION_FAILED`.
 */
export const addDeveloper = async (address: string): Promise<{ readonly email: string; readonly password: string }> => {
  const email = checkEmail(address);
  const password = newPassword();
  const passwordHash = await hashPassword(password);
  await insertDeveloper({ email, passwordHash, hasPassword: true, emailVerified: false, identities: [] });
  return { email, password };
};
