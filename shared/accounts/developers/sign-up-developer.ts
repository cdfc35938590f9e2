import type { Credentials } from '../password-proof.ts';
import type { Client } from '../sessions.ts';
import type { SignIn } from '../sign-in.ts';
import { checkCredentials, signUp } from '../sign-up.ts';
import { developerSignIns, insertDeveloper, requireOpenSignup } from '../stores/developers.ts';
import type { DeveloperRecord } from './developer-record.ts';

/**
 * Opens an account on the free plan and signs in. Registration closed → 403 `SIGNUP_DISABLED`; taken address → 409
 * `DEVELOPER_EXISTS`, with one winner of equal calls; address or password that cannot be → 400 `VALIDATION_FAILED`.
 */
export const signUpDeveloper = async (credentials: Credentials, client: Client): Promise<SignIn<DeveloperRecord>> => {
  requireOpenSignup();
  return signUp(developerSignIns(), checkCredentials(credentials), insertDeveloper, client);
};
