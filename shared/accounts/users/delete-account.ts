import type { Collection } from '../../collections/collection.ts';
import { isHooked } from '../../events/announced.ts';
import type { Project } from '../../projects/project.ts';
import { accountGone, enabled, type OneAccount, requireAccount } from '../account-store.ts';
import { replaceCredentials, unchangedSince } from '../credentials.ts';
import { wrongPassword } from '../password-proof.ts';
import type { Bearer } from '../session-jwt.ts';
import type { Client } from '../sessions.ts';
import { requireStepUp } from '../step-up.ts';
import { userAccounts } from '../stores/users.ts';
import { announcedUser } from './announced-user.ts';
import { sealLastView } from './last-view.ts';
import { userRecords } from './user-record.ts';

/**
 * Removes the user who matches for good; false where none does. They are disabled and their sessions end first, so that
 * a deletion that is cut short leaves a user who is plainly disabled: it can be repeated, or the user enabled again.
 */
export const removeUser = async (project: Project, users: Collection, filter: OneAccount): Promise<boolean> => {
  const disabled = await replaceCredentials(userAccounts(project), filter, { isDisabled: true });
  if (!disabled) return false;
  const { _id } = disabled;
  await announcedUser(project, 'user.deleted', _id, () => userRecords(project).deleteOne({ _id }), {
    ...(isHooked(project, 'user') && { lastView: await sealLastView(users, disabled) }),
  });
  return true;
};

/**
 * Deletes the account of the user who asks (contract 3, "Deleting the account"). Wrong password → 401
 * `INVALID_CREDENTIALS`, too many → 429; without a password, or with a second factor, and signed in over 10 minutes ago
 * → 403 `REAUTHENTICATION_REQUIRED`; of parallel calls one wins, the others are 401 `TOKEN_INVALID`.
 */
export const deleteAccount = async (
  project: Project,
  users: Collection,
  { userId, sessionId }: Bearer,
  password: string | undefined,
  client: Client,
): Promise<void> => {
  const store = userAccounts(project);
  const account = await requireAccount(store, userId);
  await requireStepUp(store, account, { sessionId, password }, client);
  if (await removeUser(project, users, { ...unchangedSince(account), ...enabled })) return;
  throw (await store.find({ _id: account._id, ...enabled })) ? wrongPassword() : accountGone();
};
