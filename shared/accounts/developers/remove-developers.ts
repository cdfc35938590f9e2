import { clock } from '../../core/clock.ts';
import { onProjects } from '../../projects/project-record.ts';
import { developerScope } from '../../table/item-key.ts';
import { type RecordJob, workThroughRecords } from '../../work/record-job.ts';
import { noVersion, raiseCredentialVersion } from '../credential-version.ts';
import { revokeAllSessions } from '../revoke-sessions.ts';
import { type DeveloperRecord, onDevelopers } from './developer-record.ts';
import { revokeAllTokens } from './tokens/revoke-tokens.ts';

/** Longer than any request takes, so that no request still creates something for an account that is being removed. */
const quietMs = 60_000;

/**
 * Removes what a developer has, step by step; each step may be repeated. Their projects are then removed like any
 * others.
 */
export const removeOwned = async ({ _id }: DeveloperRecord): Promise<void> => {
  const developerId = _id.toHexString();
  await revokeAllTokens(_id);
  await raiseCredentialVersion(developerScope, developerId, noVersion);
  await revokeAllSessions(developerScope, developerId);
  const now = new Date(clock.now());
  await onProjects(async (projects) => {
    await projects.updateMany(
      { ownerId: _id, state: 'active' },
      { $set: { state: 'deleting', deletingSince: now, updatedAt: now } },
    );
    await projects.updateMany(
      { 'members.developerId': _id },
      { $pull: { members: { developerId: _id }, invitations: { invitedBy: _id } } },
    );
  });
};

const removeDeveloper = async (record: DeveloperRecord): Promise<boolean> => {
  await removeOwned(record);
  await onDevelopers((developers) => developers.deleteOne({ _id: record._id }));
  return true;
};

/** The rest of the job's five minutes is for the account in progress. */
export const developerRemoval: RecordJob<DeveloperRecord> = {
  name: 'remove-developers',
  what: 'developer',
  on: onDevelopers,
  lease: 'deletingSince',
  open: () => ({}),
  quietMs,
  page: 20,
  step: removeDeveloper,
  pace: { lanes: 1, limitMs: 180_000 },
};

/**
 * Removes what is left of accounts that were deleted at least a minute ago, their records last; begins none after three
 * minutes. A run that is cut short is carried on by the next one. Returns how many accounts are gone.
 */
export const removeDeletedDevelopers = async (): Promise<number> => (await workThroughRecords(developerRemoval)).done;
