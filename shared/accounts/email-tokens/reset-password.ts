import type { Project } from '../../projects/project.ts';
import { checkPassword, hashPassword } from '../passwords.ts';
import { projectScope } from '../session-keys.ts';
import { replaceCredentials } from '../users/replace-credentials.ts';
import { type EmailProof, withProof } from './email-proof.ts';

/**
 * Sets a password anew, ends every session and marks the address as verified, for the mail went there. A token or code
 * that is wrong, used or expired → 400 `INVALID_EMAIL_TOKEN`; a password that cannot be → 400, and the token stays
 * good.
 */
export const resetPassword = async (project: Project, proof: EmailProof, newPassword: string): Promise<void> => {
  const password = await hashPassword(checkPassword(newPassword, 'newPassword'));
  await withProof(projectScope(project.id), 'reset', proof, async (owner) => {
    const set = { password, hasPassword: true, emailVerified: true };
    return (await replaceCredentials(project, { ...owner, isDisabled: { $ne: true } }, set)) !== undefined;
  });
};
