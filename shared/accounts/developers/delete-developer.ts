import { clock } from '../../core/clock.ts';
import { describeError, log } from '../../core/log.ts';
import { requireAccount } from '../account-store.ts';
import { unchangedSince } from '../credentials.ts';
import type { DashboardBearer } from '../dashboard-tokens.ts';
import { requirePassword, wrongPassword } from '../password-proof.ts';
import type { Client } from '../session-keys.ts';
import { developerAccounts } from '../stores/developers.ts';
import type { DeveloperRecord } from './developer-record.ts';
import { removeOwned } from './remove-developers.ts';

/** From now on nobody can sign in to the account, and its address is free. */
const markDeleted = async (record: DeveloperRecord): Promise<boolean> => {
  const email = `deleted ${record._id.toHexString()}`;
  const deleted = await developerAccounts.change(unchangedSince(record), {
    $set: { email, passwordHash: '', emailVerified: false, deletingSince: new Date(clock.now()) },
    $unset: { identities: 1 },
    $inc: { credentialVersion: 1 },
  });
  return deleted !== undefined;
};

/**
 * Deletes the account of the developer who asks, with their projects, memberships, tokens and sessions. Wrong password
 * → 401 `INVALID_CREDENTIALS`, too many → 429. Once it is marked, what cannot be removed at once
 * is left to `removeDeletedDevelopers`.
 */
export const deleteDeveloper = async (
  { developerId }: Pick<DashboardBearer, 'developerId'>,
  password: string | undefined,
  client: Client,
): Promise<void> => {
  const record = await requireAccount(developerAccounts, developerId);
  await requirePassword(developerAccounts, record, password, client);
  if (!(await markDeleted(record))) throw wrongPassword();
  try {
    await removeOwned(record);
  } catch (error) {
    log.error({ message: 'A deleted account is left to the job', developer: developerId, error: describeError(error) });
  }
};
