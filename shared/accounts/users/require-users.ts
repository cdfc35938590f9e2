import type { Collection } from '../../collections/collection.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';

/** The `users` collection of a project whose accounts are in use; without it, or auth off → 403 `AUTH_DISABLED`. */
export const requireUsers = async (project: Project): Promise<Collection> => {
  if (!project.authEnabled) {
    throw new AppError(
      'AUTH_DISABLED',
      'User accounts are not enabled for this project. Turn them on with authEnabled: PATCH /api/projects/:projectId on the dashboard API.',
    );
  }
  const users = (await findCollections(project, [usersCollection])).get(usersCollection);
  if (users) return users;
  throw new AppError(
    'AUTH_DISABLED',
    'User accounts need the collection users, which this project does not have. Make it on the dashboard API: POST /api/projects/:projectId/collections.',
  );
};
