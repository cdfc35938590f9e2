import { type AccountStore, enabled } from '../account-store.ts';
import { ownPassword, replaceCredentials } from '../credentials.ts';
import { checkPassword, hashPassword } from '../passwords.ts';
import { type EmailProof, withProof } from './email-proof.ts';

/**
 * Sets a password anew, ends every session and token and marks the address as verified, for the mail went there: what
 * somebody else left who had opened the account with it is gone. A token or code that is wrong, used or expired → 400
 * `INVALID_EMAIL_TOKEN`; a password that cannot be → 400, and the token stays good.
 */
export const resetPassword = async (store: AccountStore, proof: EmailProof, newPassword: string): Promise<void> => {
  const hash = await hashPassword(checkPassword(newPassword, 'newPassword'));
  await withProof(store.scope, 'reset', proof, async (owner) => {
    const set = { ...ownPassword(store, hash), emailVerified: true };
    return (await replaceCredentials(store, { ...owner, ...enabled }, set)) !== undefined;
  });
};
