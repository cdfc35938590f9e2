import { randomBytes } from 'node:crypto';
import { type Filter, ObjectId } from 'mongodb';
import type { Project } from '../../projects/project.ts';
import { hashPassword } from '../passwords.ts';
import { replaceCredentials } from './replace-credentials.ts';
import type { UserRecord } from './user-record.ts';

/** The hash of a password that nobody knows, for accounts that have none of their own. */
export const unknownPasswordHash = (): Promise<string> => hashPassword(randomBytes(32).toString('base64url'));

/**
 * Takes an account away from whoever opened it: its password is nobody's, all its sessions end. For an account with an
 * address that was never verified and turns out to be someone else's. Answers the user as they are now; `undefined`,
 * and nothing happens, where the address has been verified meanwhile or the user is gone.
 */
export const discardCredentials = async (project: Project, userId: string): Promise<UserRecord | undefined> => {
  const password = await unknownPasswordHash();
  const unproved = { _id: new ObjectId(userId), emailVerified: { $ne: true } } as Filter<UserRecord>;
  return replaceCredentials(project, unproved, { password, hasPassword: false });
};
