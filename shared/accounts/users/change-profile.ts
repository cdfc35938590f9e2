import type { Document } from 'mongodb';
import { sizeOf } from '../../documents/write/document-size.ts';
import { writeGuarded } from '../../documents/write/guarded-write.ts';
import { type UpdatePlan, withoutGrowth } from '../../documents/write/update-plan.ts';
import type { Project } from '../../projects/project.ts';
import { databaseFull, hasManagedRoom } from '../../projects/quota/database-quota.ts';
import type { AccountFilter } from '../account-store.ts';
import { userAccounts } from '../stores/users.ts';
import type { UserRecord } from './user-record.ts';

/** Whose profile, what else is changed along with it, and what to do while the plan does not fit. */
export interface ProfileChange {
  readonly filter: AccountFilter;
  readonly beside?: Document;
  /** The user as they are now; throws if there is nothing to change any more. */
  readonly current: () => Promise<UserRecord>;
  /** What to say if others change the record at each try. */
  readonly busy: string;
}

/**
 * Writes what was planned of a user's profile and the rest, in one command; a user whose record is large is read again
 * first, to be measured. In a full database the profile may not grow.
 */
export const changeProfile = async (
  project: Project,
  planned: UpdatePlan | undefined,
  { filter, beside = {}, current, busy }: ProfileChange,
): Promise<UserRecord> => {
  const hasRoom = !planned || (await hasManagedRoom(project, planned.size));
  const plan = hasRoom ? planned : withoutGrowth(planned, databaseFull(project));
  const change = { ...beside, $set: { ...plan?.set, ...beside.$set } };
  return writeGuarded(plan?.guards ?? [], {
    write: async (conditions) => (await userAccounts(project).change({ ...filter, ...conditions }, change)) ?? null,
    read: async () => {
      const document = { ...(await current()) };
      return { document, bytes: sizeOf(document) };
    },
    attempts: 3,
    busy,
  });
};
