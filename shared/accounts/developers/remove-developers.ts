import type { Collection } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { describeError, log } from '../../core/log.ts';
import type { ProjectRecord } from '../../projects/project-record.ts';
import { noVersion, raiseCredentialVersion } from '../credential-version.ts';
import { revokeAllSessions } from '../revoke-sessions.ts';
import { developerScope } from '../session-keys.ts';
import type { DeveloperRecord } from './developer-record.ts';
import { revokeAllTokens } from './tokens/revoke-tokens.ts';

/** Longer than any request takes, so that no request still creates something for an account that is being removed. */
const quietMs = 60_000;
const developersPerRun = 20;

/** No further account is started after this time; the rest of the five minutes is for the one in progress. */
const runMs = 180_000;

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
  await onControl(async (db) => {
    const projects = db.collection<ProjectRecord>('projects');
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

const onDevelopers = <T>(operation: (developers: Collection<DeveloperRecord>) => Promise<T>): Promise<T> =>
  onControl((db) => operation(db.collection<DeveloperRecord>('developers')));

/** Moves one that failed to the end of the queue. */
const putOff = ({ _id }: DeveloperRecord): Promise<unknown> =>
  onDevelopers((developers) =>
    developers.updateOne({ _id, deletingSince: { $exists: true } }, { $set: { deletingSince: new Date(clock.now()) } }),
  );

const dueDevelopers = (): Promise<DeveloperRecord[]> =>
  onDevelopers((developers) =>
    developers
      .find(
        { deletingSince: { $lte: new Date(clock.now() - quietMs) } },
        { sort: { deletingSince: 1 }, limit: developersPerRun, maxTimeMS: 5000 },
      )
      .toArray(),
  );

/**
 * Removes what is left of accounts that were deleted at least a minute ago, their records last. Those that have waited
 * longest come first, and one that fails waits again, behind all others; a run takes at most 20 and begins none after
 * three minutes. A run that is cut short is carried on by the next one. Returns how many accounts are gone.
 */
export const removeDeletedDevelopers = async (): Promise<number> => {
  const end = performance.now() + runMs;
  let gone = 0;
  for (const record of await dueDevelopers()) {
    if (performance.now() >= end) break;
    try {
      await removeOwned(record);
      await onDevelopers((developers) => developers.deleteOne({ _id: record._id }));
      gone++;
    } catch (error) {
      log.error({ job: 'remove-developers', developer: record._id.toHexString(), error: describeError(error) });
      await putOff(record).catch(() => undefined);
    }
  }
  return gone;
};
