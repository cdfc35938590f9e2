import type { Filter } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { describeError, log } from '../../core/log.ts';
import type { DashboardBearer } from '../dashboard-tokens.ts';
import type { Client } from '../session-keys.ts';
import type { DeveloperRecord } from './developer-record.ts';
import { getDeveloperRecord } from './find-developer.ts';
import { removeOwned } from './remove-developers.ts';
import { unchangedSince } from './replace-credentials.ts';
import { requirePassword, wrongPassword } from './require-password.ts';

/** From now on nobody can sign in to the account, and its address is free. */
const markDeleted = async (record: DeveloperRecord): Promise<boolean> => {
  const now = new Date(clock.now());
  const filter = { ...unchangedSince(record), deletingSince: { $exists: false } } as Filter<DeveloperRecord>;
  const { matchedCount } = await onControl((db) =>
    db.collection<DeveloperRecord>('developers').updateOne(filter, {
      $set: {
        email: `deleted ${record._id.toHexString()}`,
        passwordHash: '',
        emailVerified: false,
        deletingSince: now,
        updatedAt: now,
      },
      $unset: { identities: 1 },
      $inc: { credentialVersion: 1 },
    }),
  );
  return matchedCount > 0;
};

/**
 * Deletes the account of the developer who asks, with their projects, memberships, tokens and sessions. Wrong password
 * → 401 `INVALID_CREDENTIALS`, too many → 429. Once it is marked, what cannot be
 * removed at once is left to `removeDeletedDevelopers`.
 */
export const deleteDeveloper = async (
  { developerId }: Pick<DashboardBearer, 'developerId'>,
  password: string | undefined,
  client: Client,
): Promise<void> => {
  const record = await getDeveloperRecord(developerId);
  await requirePassword(record, password, client);
  if (!(await markDeleted(record))) throw wrongPassword();
  try {
    await removeOwned(record);
  } catch (error) {
    log.error({ message: 'A deleted account is left to the job', developer: developerId, error: describeError(error) });
  }
};
