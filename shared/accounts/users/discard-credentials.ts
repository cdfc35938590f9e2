import { randomBytes } from 'node:crypto';
import { type Filter, ObjectId } from 'mongodb';
import type { Project } from '../../projects/project.ts';
import { hashPassword } from '../passwords.ts';
import { replaceCredentials } from './replace-credentials.ts';
import type { UserRecord } from './user-record.ts';

/** The hash of a password that nobody knows, for accounts that have none of their own. */
export const unknownPasswordHash = (): Promise<string> => hashPassword(randomBytes(32).toString('base64url'));

/**
 * Removes the credentials of an account whose address was never verified and turns out to belong to someone else: its
 * password is replaced by an unknown one and all sessions end. Returns the updated user; `undefined`, without any
 * change, if the address has been verified in the meantime or the user is gone.
 */
export const discardCredentials = async (project: Project, userId: string): Promise<UserRecord | undefined> => {
  const password = await unknownPasswordHash();
  const unproved = { _id: new ObjectId(userId), emailVerified: { $ne: true } } as Filter<UserRecord>;
  return replaceCredentials(project, unproved, { password, hasPassword: false });
};
