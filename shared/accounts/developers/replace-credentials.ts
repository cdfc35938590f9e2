import type { Filter } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { raiseCredentialVersion } from '../credential-version.ts';
import { revokeAllSessions } from '../revoke-sessions.ts';
import { developerScope } from '../session-keys.ts';
import { credentialVersionOf, type DeveloperRecord } from './developer-record.ts';

/**
 * Changes what a developer signs in with, in one command that `filter` decides, and then ends their sessions but
 * `except`. Returns the updated developer; `undefined`, and nothing happens, where none matches.
 */
export const replaceDeveloperCredentials = async (
  filter: Filter<DeveloperRecord>,
  set: Partial<DeveloperRecord>,
  { except }: { readonly except?: string } = {},
): Promise<DeveloperRecord | undefined> => {
  const updated = await onControl((db) =>
    db
      .collection<DeveloperRecord>('developers')
      .findOneAndUpdate(
        { ...filter, deletingSince: { $exists: false } } as Filter<DeveloperRecord>,
        { $set: { ...set, updatedAt: new Date(clock.now()) }, $inc: { credentialVersion: 1 } },
        { returnDocument: 'after', maxTimeMS: 5000 },
      ),
  );
  if (!updated) return undefined;
  const developerId = updated._id.toHexString();
  await raiseCredentialVersion(developerScope, developerId, credentialVersionOf(updated));
  await revokeAllSessions(developerScope, developerId, except === undefined ? {} : { except });
  return updated;
};

/** Matches a developer whose credentials are still those of `record`; older accounts begin without a version. */
export const unchangedSince = (record: DeveloperRecord): Filter<DeveloperRecord> => {
  const version = credentialVersionOf(record);
  return {
    _id: record._id,
    credentialVersion: version === 0 ? { $in: [0, null] } : version,
  } as Filter<DeveloperRecord>;
};
