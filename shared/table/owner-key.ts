import { hash } from 'node:crypto';

/** What an owner is counted by: the hashed address, which a new account has too, so that no limit begins anew. */
export const ownerKeyOf = (email: string): string => hash('sha256', email, 'base64url').slice(0, 22);
