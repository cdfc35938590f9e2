import { onManaged } from '../../../clients/mongo.ts';
import { estimateDocuments } from '../../../collections/on-collection.ts';
import type { Page, PageRequest } from '../../../core/page.ts';
import type { Project } from '../../../projects/project.ts';
import type { UserRecord } from '../user-record.ts';
import { type ManagedUser, requireUser, toManagedUser, usersOf } from './managed-user.ts';

/** A page of a project's end users, newest first. */
export const listUsers = async (project: Project, { page, limit }: PageRequest): Promise<Page<ManagedUser>> => {
  const users = await usersOf(project);
  const [records, total] = await Promise.all([
    onManaged(project, (db) =>
      db
        .collection<UserRecord>(users.name)
        .find({ isDeleted: { $ne: true } }, { sort: { _id: -1 }, skip: (page - 1) * limit, limit, maxTimeMS: 5000 })
        .toArray(),
    ),
    estimateDocuments(project, users.name),
  ]);
  return { items: records.map((record) => toManagedUser(users, record)), total, page, limit };
};

/** One end user; unknown → 404 `USER_NOT_FOUND`. */
export const getUser = async (project: Project, id: string): Promise<ManagedUser> => {
  const users = await usersOf(project);
  return toManagedUser(users, await requireUser(project, id));
};
