import { requireUsers } from '../../auth/users/require-users.ts';
import type { Collection } from '../../collections/collection.ts';
import type { Keyed } from './api-key.ts';
import type { Adds } from './middleware-types.ts';

/** Added by `enabledUsers`. */
export interface WithUsers {
  /** The project's `users` collection. */
  users: Collection;
}

/** Lets only projects with user accounts through: no `users` collection, or auth turned off → 403 `AUTH_DISABLED`. */
export const enabledUsers = (): Adds<Keyed & WithUsers> => ({
  before: async ({ context }) => {
    context.users = await requireUsers(context.project);
  },
});
