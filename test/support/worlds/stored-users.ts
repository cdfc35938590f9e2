import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { onManaged } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import type { TestProject } from './project.ts';

/** A test's project as domain functions take it. */
export const domainProject = async ({ secretKey }: TestProject): Promise<Project> => {
  const match = await findProjectByKey(secretKey, '');
  if (!match) throw new Error('The project is gone');
  return match.project;
};

/** The users of a project as the database holds them. */
export const storedUsers = async (
  project: TestProject,
  filter: Readonly<Record<string, unknown>> = {},
): Promise<Record<string, unknown>[]> =>
  onManaged(await domainProject(project), (db) => db.collection('users').find(filter).toArray());

/** How often the service has changed a user, and when it did so last. */
export const changesOf = async (project: TestProject, { email }: { readonly email: string }) => {
  const [{ _rev, updatedAt } = {}] = await storedUsers(project, { email });
  return { _rev, updatedAt };
};

/** Changes users behind the service's back. */
export const changeStoredUsers = async (
  project: TestProject,
  filter: Readonly<Record<string, unknown>>,
  set: Readonly<Record<string, unknown>>,
): Promise<void> => {
  await onManaged(await domainProject(project), (db) => db.collection('users').updateMany(filter, { $set: set }));
};
