import { type AccountFilter, type AccountStore, enabled } from '../account-store.ts';
import { type EmailProof, withProof } from './email-proof.ts';

/** Marks the address of the account that matches as verified; false if there is none, or it is disabled. */
export const markVerified = ({ write }: AccountStore, filter: AccountFilter): Promise<boolean> =>
  write({ ...filter, ...enabled }, { $set: { emailVerified: true } });

/**
 * Marks an address as verified. A token or code that is wrong, used or expired, or whose account is disabled → 400
 * `INVALID_EMAIL_TOKEN`.
 */
export const verifyEmail = (store: AccountStore, proof: EmailProof): Promise<void> =>
  withProof(store.scope, 'verify', proof, (owner) => markVerified(store, { ...owner }));
