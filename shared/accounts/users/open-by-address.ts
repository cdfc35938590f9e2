import type { Collection } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import type { OpenByAddress } from '../code-sign-in.ts';
import { firstDevice } from '../devices.ts';
import type { Client } from '../sessions.ts';
import { vouchedAccount } from '../sign-up.ts';
import { insertUser } from './insert-user.ts';
import { laterProfile } from './profile.ts';
import type { UserRecord } from './user-record.ts';

/**
 * Opens a user's account for who has proved an address, where sign-ups are open; what the schema requires is for the
 * first change of the profile to bring. Plan full → 403 `PLAN_LIMIT`.
 */
export const openByAddress =
  (project: Project, users: Collection, client: Client): OpenByAddress<UserRecord> =>
  async (email) => {
    if (!project.allowPublicSignup) return undefined;
    try {
      const { profile, _signIn } = laterProfile(users);
      const account = { ...(await vouchedAccount(email)), profile, _signIn: { ..._signIn, ...firstDevice(client) } };
      return await insertUser(project, account);
    } catch (error) {
      if (error instanceof AppError && error.code === 'USER_EXISTS') return null;
      throw error;
    }
  };
