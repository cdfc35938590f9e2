import { accountUnavailable, requireAccount } from '../accounts/account-store.ts';
import {
  blockingVersion,
  otherSignInMethods,
  raiseCredentialVersion,
  unchangedSince,
  wrongPassword,
} from '../accounts/credentials.ts';
import { type DeveloperRecord, developerAccounts, developerRecords } from '../accounts/developers/developers.ts';
import { endLeftAccess } from '../accounts/developers/tokens.ts';
import { type Client, revokeAllSessions } from '../accounts/sessions.ts';
import { requireStepUp } from '../accounts/step-up.ts';
import type { Bearer } from '../accounts/tokens.ts';
import { clock } from '../core/clock.ts';
import { tryOrLog } from '../core/log.ts';
import { developerScope } from '../persistence/item-keys.ts';
import { type RecordJob, workThroughRecords } from '../persistence/jobs.ts';
import { projectRecords } from '../projects/project.ts';

/** No request runs this long, so none can still create something for the deleted account. */
const quietMs = 60_000;

/** Can be repeated. The projects are then removed by `remove-projects`. */
const removeOwned = async ({ _id }: DeveloperRecord): Promise<void> => {
  const developerId = _id.toHexString();
  await endLeftAccess(_id);
  await raiseCredentialVersion(developerScope, developerId, blockingVersion);
  await revokeAllSessions(developerScope, developerId);
  const now = new Date(clock.now());
  await projectRecords.updateMany(
    { ownerId: _id, state: 'active' },
    { $set: { state: 'deleting', deletingSince: now, updatedAt: now } },
  );
  await projectRecords.updateMany(
    { 'members.developerId': _id },
    { $pull: { members: { developerId: _id }, invitations: { invitedBy: _id } } },
  );
};

/** The job has 5 minutes; what is left after `limitMs` is for the account in progress. */
const developerRemoval: RecordJob<DeveloperRecord> = {
  name: 'remove-developers',
  what: 'developer',
  records: developerRecords,
  lease: 'deletingSince',
  open: () => ({}),
  quietMs,
  page: 20,
  step: async (record) => {
    await removeOwned(record);
    return (await developerRecords.deleteOne({ _id: record._id })).deletedCount > 0;
  },
  concurrency: 1,
  limitMs: 180_000,
};

/** Removes the accounts that were deleted over a minute ago. Returns how many. */
export const removeDeletedDevelopers = async (): Promise<number> => (await workThroughRecords(developerRemoval)).done;

/** Blocks all sign-ins and frees the email address. */
const markDeleted = async (record: DeveloperRecord): Promise<boolean> => {
  const email = `deleted ${record._id.toHexString()}`;
  const deleted = await developerAccounts.change(unchangedSince(record), {
    $set: { email, passwordHash: '', emailVerified: false, deletingSince: new Date(clock.now()) },
    $unset: otherSignInMethods,
    $inc: { credentialVersion: 1 },
  });
  return deleted !== undefined;
};

/**
 * Deletes the caller's account with projects, memberships, tokens and sessions; `removeDeletedDevelopers` finishes what
 * fails here. Errors: 401 `INVALID_CREDENTIALS`, 429 `ACCOUNT_LOCKED`, 403 `REAUTHENTICATION_REQUIRED`.
 */
export const deleteDeveloper = async (
  { userId: developerId, sessionId }: Bearer,
  password: string | undefined,
  client: Client,
): Promise<void> => {
  const record = await requireAccount(developerAccounts, developerId);
  await requireStepUp(developerAccounts, record, { sessionId, password }, client);
  if (!(await markDeleted(record))) {
    throw (await developerAccounts.find({ _id: record._id })) ? wrongPassword() : accountUnavailable();
  }
  const fields = { message: 'A deleted account is left to the job', developer: developerId };
  await tryOrLog('error', fields, () => removeOwned(record));
};
