import type { Filter } from 'mongodb';
import { onManaged } from '../../clients/mongo.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { clock } from '../../core/clock.ts';
import type { Project } from '../../projects/project.ts';
import { raiseCredentialVersion } from '../credential-version.ts';
import { revokeAllSessions } from '../revoke-sessions.ts';
import { projectScope } from '../session-keys.ts';
import { credentialVersionOf, type UserRecord } from './user-record.ts';

/** Ends every session of a user but `except`, and lets none begin that was under way with older credentials. */
export const endSessions = async (
  project: Project,
  userId: string,
  version: number,
  { except }: { readonly except?: string } = {},
): Promise<void> => {
  const scope = projectScope(project.id);
  await raiseCredentialVersion(scope, userId, version);
  await revokeAllSessions(scope, userId, except === undefined ? {} : { except });
};

/**
 * Changes what a user signs in with, in one command that `filter` decides, and then ends their sessions but `except`.
 * Returns the updated user; `undefined`, and nothing happens, where none matches.
 */
export const replaceCredentials = async (
  project: Project,
  filter: Filter<UserRecord>,
  set: Partial<UserRecord>,
  { except }: { readonly except?: string } = {},
): Promise<UserRecord | undefined> => {
  const updated = await onManaged(project, (db) =>
    db
      .collection<UserRecord>(usersCollection)
      .findOneAndUpdate(
        { ...filter, isDeleted: { $ne: true } } as Filter<UserRecord>,
        { $set: { ...set, updatedAt: new Date(clock.now()) }, $inc: { credentialVersion: 1 } },
        { returnDocument: 'after', maxTimeMS: 5000 },
      ),
  );
  if (!updated) return undefined;
  const options = except === undefined ? {} : { except };
  await endSessions(project, updated._id.toHexString(), credentialVersionOf(updated), options);
  return updated;
};

/** Matches a user whose credentials are still those of `record`; imported users begin without a version. */
export const unchangedSince = (record: UserRecord): Filter<UserRecord> => {
  const version = credentialVersionOf(record);
  return { _id: record._id, credentialVersion: version === 0 ? { $in: [0, null] } : version } as Filter<UserRecord>;
};
