import { createHash } from 'node:crypto';

// Partition keys of what is counted beyond one project. What is kept below them outlives projects and accounts, so that
// no limit begins again with a new one.

/** What an owner of projects is counted by: the address of the account, hashed, which a new account has too. */
export const ownerKeyOf = (email: string): string =>
  createHash('sha256').update(email).digest('base64url').slice(0, 22);

/** Partition of an owner, by `ownerKeyOf` their address. */
export const ownerScope = (ownerKey: string): `o#${string}` => `o#${ownerKey}`;

/** Partition of what is counted for the whole service. */
export const serviceScope = 'service';
