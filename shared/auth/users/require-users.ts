import type { Collection } from '../../collections/collection.ts';
import { usersCollection } from '../../collections/collection-name.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { AppError } from '../../errors.ts';
import type { Project } from '../../projects/project.ts';

/**
 * The `users` collection of a project whose accounts are in use; without it, or with auth turned off → 403
 * `AUTH_DISABLED`.
 */
export const requireUsers = async (project: Project): Promise<Collection> => {
  const users = project.authEnabled
    ? (await findCollections(project, [usersCollection])).get(usersCollection)
    : undefined;
  if (users) return users;
  throw new AppError(
    'AUTH_DISABLED',
    'User accounts are not enabled for this project. Create the users collection and turn authentication on in the dashboard.',
  );
};
