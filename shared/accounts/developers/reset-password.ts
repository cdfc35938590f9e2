import { type EmailProof, withProof } from '../email-tokens/email-proof.ts';
import { checkPassword, hashPassword } from '../passwords.ts';
import { developerScope } from '../session-keys.ts';
import { replaceDeveloperCredentials } from './replace-credentials.ts';
import { revokingTokens } from './tokens/revoke-tokens.ts';

/**
 * Sets a developer's password anew, ends every session, revokes every personal access token and marks the address as
 * verified: what somebody else left who had opened the account with it is gone. Bad token or code → 400
 * `INVALID_EMAIL_TOKEN`; a password that cannot be → 400, and the token stays good.
 */
export const resetDeveloperPassword = async (proof: EmailProof, newPassword: string): Promise<void> => {
  const passwordHash = await hashPassword(checkPassword(newPassword, 'newPassword'));
  await withProof(developerScope, 'reset', proof, async (owner) => {
    const set = { passwordHash, hasPassword: true, emailVerified: true };
    return (await revokingTokens(owner._id, () => replaceDeveloperCredentials(owner, set))) !== undefined;
  });
};
