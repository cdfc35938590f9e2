import { randomBytes } from 'node:crypto';

/** The key of an owner of projects for whom no other test counts anything. */
export const newOwnerKey = (): string => randomBytes(12).toString('base64url');
