import { isUsersName } from '../collections/names.ts';
import type { AccessContext } from '../documents/access/access.ts';
import { usersReserved } from './middleware/collection.ts';

/** The query parameter that names another caller. */
export const viewParameter = 'view_as';

/** Its value for a caller with the publishable key and without a user. */
const withoutUser = 'publishable';

/**
 * The access of another caller, so that developers see what their app shows: `publishable`, or the id of a user who
 * has signed in with a second factor. For reads only: the result is a part of what the developer reads anyway, and no
 * token is issued.
 */
export const viewedAs = (access: AccessContext, as: string | undefined): AccessContext => {
  if (as === undefined) return access;
  if (isUsersName(access.collection.name)) throw usersReserved();
  return {
    ...access,
    caller: { kind: 'publishable', ...(as !== withoutUser && { userId: as.toLowerCase(), mfa: true as const }) },
  };
};
