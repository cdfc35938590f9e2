import { type Document, ObjectId } from 'mongodb';
import type { Page, PageRequest } from '../core/page.ts';
import { roleIn } from './find-owned-project.ts';
import { onProjects, type ProjectRecord } from './project-record.ts';
import { type ProjectView, toProjectView } from './project-view.ts';
import type { Role } from './roles.ts';
import { type OwnerFacts, withOwner } from './with-owner.ts';

/** A project and what the developer who sees it may do there. */
export interface ListedProject extends ProjectView {
  readonly role: Role;
}

/**
 * The active projects that a developer owns or is a member of; each half is an index of its own, in the order of the
 * list.
 */
export const projectsOf = (developerId: ObjectId, only: readonly ObjectId[] | null): Document => {
  const named = only ? { _id: { $in: only } } : {};
  return {
    $or: [
      { ownerId: developerId, state: 'active', ...named },
      { 'members.developerId': developerId, state: 'active', ...named },
    ],
  };
};

/** A page of the projects that a developer owns or is a member of, newest first; `only` confines it to these ids. */
export const listProjects = async (
  developerId: string,
  { page, limit }: PageRequest,
  only: readonly string[] | null = null,
): Promise<Page<ListedProject>> => {
  const filter = projectsOf(new ObjectId(developerId), only?.map((id) => new ObjectId(id)) ?? null);
  const shown = [{ $sort: { _id: -1 } }, { $skip: (page - 1) * limit }, { $limit: limit }];
  const [rows, total] = await onProjects((projects) =>
    Promise.all([
      projects
        .aggregate<ProjectRecord & OwnerFacts>([{ $match: filter }, ...shown, ...withOwner], { maxTimeMS: 5000 })
        .toArray(),
      projects.countDocuments(filter, { maxTimeMS: 5000 }),
    ]),
  );
  const items = rows.map((row) => ({
    ...toProjectView(row, row.plan ?? 'free'),
    role: roleIn(row, developerId) ?? 'viewer',
  }));
  return { items, total, page, limit };
};
