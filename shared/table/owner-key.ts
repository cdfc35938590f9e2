import { createHash } from 'node:crypto';

/**
 * What an owner of projects is counted by: the address of the account, hashed, which a new account has too, so that no
 * limit begins again with one.
 */
export const ownerKeyOf = (email: string): string =>
  createHash('sha256').update(email).digest('base64url').slice(0, 22);
