import { findPage } from '../../../clients/find-page.ts';
import { onManaged } from '../../../clients/mongo.ts';
import { requireCollection } from '../../../collections/find-collections.ts';
import { estimateDocuments } from '../../../collections/on-collection.ts';
import { usersCollection } from '../../../collections/schema/collection-name.ts';
import type { Page, PageRequest } from '../../../core/page.ts';
import type { Project } from '../../../projects/project.ts';
import type { UserRecord } from '../user-record.ts';
import { type ManagedUser, requireUser, toManagedUser } from './managed-user.ts';

/** A page of a project's end users, newest first. */
export const listUsers = async (project: Project, request: PageRequest): Promise<Page<ManagedUser>> => {
  const users = await requireCollection(project, usersCollection);
  const found = await findPage<UserRecord>(
    (operation) => onManaged(project, (db) => operation(db.collection<UserRecord>(users.name))),
    { isDeleted: { $ne: true } },
    request,
    { sort: { _id: -1 } },
    () => estimateDocuments(project, users.name),
  );
  return { ...found, items: found.items.map((record) => toManagedUser(users, record)) };
};

/** One end user; unknown → 404 `USER_NOT_FOUND`. */
export const getUser = async (project: Project, id: string): Promise<ManagedUser> => {
  const users = await requireCollection(project, usersCollection);
  return toManagedUser(users, await requireUser(project, id));
};
