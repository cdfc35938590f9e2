import { accountGone, requireAccount } from '../accounts/account-store.ts';
import {
  noVersion,
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

/** Longer than any request takes, so that no request still creates something for an account that is being removed. */
const quietMs = 60_000;

/** Removes what a developer has, in steps that may be repeated; their projects are then removed like any others. */
const removeOwned = async ({ _id }: DeveloperRecord): Promise<void> => {
  const developerId = _id.toHexString();
  await endLeftAccess(_id);
  await raiseCredentialVersion(developerScope, developerId, noVersion);
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

/** The rest of the job's five minutes is for the account in progress. */
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
  pace: { lanes: 1, limitMs: 180_000 },
};

/** Removes what is left of accounts that were deleted a minute ago, their records last; returns how many are gone. */
export const removeDeletedDevelopers = async (): Promise<number> => (await workThroughRecords(developerRemoval)).done;

/** From now on nobody can sign in to the account, and its address is free. */
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
 * Deletes the account of who asks, with projects, memberships, tokens and sessions; what cannot go at once is left to
 * `removeDeletedDevelopers`. Wrong password → 401 `INVALID_CREDENTIALS`, too many → 429; without a password, or with a
 * second factor, and signed in over 10 minutes ago → 403 `REAUTHENTICATION_REQUIRED`.
 */
export const deleteDeveloper = async (
  { userId: developerId, sessionId }: Bearer,
  password: string | undefined,
  client: Client,
): Promise<void> => {
  const record = await requireAccount(developerAccounts, developerId);
  await requireStepUp(developerAccounts, record, { sessionId, password }, client);
  if (!(await markDeleted(record))) {
    throw (await developerAccounts.find({ _id: record._id })) ? wrongPassword() : accountGone();
  }
  const fields = { message: 'A deleted account is left to the job', developer: developerId };
  await tryOrLog('error', fields, () => removeOwned(record));
};
