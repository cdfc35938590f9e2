import { randomBytes } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import type { PlanName } from '../../projects/project.ts';
import { canonicalEmail, checkEmail } from '../email.ts';
import type { Credentials } from '../password-proof.ts';
import { accountWithPassword } from '../sign-up.ts';
import { developerAccounts, insertDeveloper } from '../stores/developers.ts';

/** 96 random bits, to be typed once. */
const newPassword = (): string => randomBytes(12).toString('base64url');

/**
 * Opens a developer's account with a password made here, also where registration is closed; the operator's own act, no
 * route does it. Taken address → `DEVELOPER_EXISTS`, one that cannot be → `VALIDATION_FAILED`.
 */
export const addDeveloper = async (address: string): Promise<Credentials> => {
  const credentials = { email: checkEmail(address), password: newPassword() };
  await insertDeveloper(await accountWithPassword(credentials));
  return credentials;
};

/** Puts a developer on a plan; the operator's own act, no route does it. Unknown address → `NOT_FOUND`. */
export const setPlan = async (email: string, plan: PlanName): Promise<void> => {
  const isSet = await developerAccounts.write({ email: { $eq: canonicalEmail(email) } }, { $set: { plan } });
  if (!isSet) throw new AppError('NOT_FOUND', 'No developer has this e-mail address.');
};
