import { requireUsers } from '../../accounts/users/require-users.ts';
import type { Collection } from '../../collections/collection.ts';
import type { Keyed } from './api-key.ts';
import type { Middleware } from './middleware-types.ts';

/** Added by `enabledUsers`. */
export interface WithUsers {
  /** The project's `users` collection. */
  readonly users: Collection;
}

/** Lets only projects with user accounts through: no `users` collection, or auth turned off → 403 `AUTH_DISABLED`. */
export const enabledUsers = (): Middleware<Keyed, WithUsers> => ({
  before: async ({ context }) => ({ users: await requireUsers(context.project) }),
});
