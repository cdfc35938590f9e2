import { type Document, ObjectId } from 'mongodb';
import { findPage } from '../clients/find-page.ts';
import type { PageRequest } from '../core/page.ts';
import { roleIn } from './find-owned-project.ts';
import { projectRecords } from './project-record.ts';
import { toProjectView } from './project-view.ts';
import { findOwner } from './with-owner.ts';

/** The active projects that a developer owns or is a member of; each half is an index of its own, in their order. */
export const projectsOf = (developerId: ObjectId, only: readonly ObjectId[] | null): Document => {
  const named = only ? { _id: { $in: only } } : {};
  return {
    $or: [
      { ownerId: developerId, state: 'active', ...named },
      { 'members.developerId': developerId, state: 'active', ...named },
    ],
  };
};

/** What the list does not show, and records can have a lot of. */
const unseen = { keys: 0, signingKeys: 0, invitations: 0 } as const;

/** A page of the projects that a developer owns or is a member of, newest first; `only` confines it to these ids. */
export const listProjects = async (
  developerId: string,
  request: PageRequest,
  only: readonly string[] | null = null,
) => {
  const filter = projectsOf(new ObjectId(developerId), only?.map((id) => new ObjectId(id)) ?? null);
  return findPage(projectRecords, filter, request, { sort: { _id: -1 }, projection: unseen }, async (record) => {
    const { plan = 'free' } = await findOwner(record.ownerId.toHexString());
    return { ...toProjectView(record, plan), role: roleIn(record, developerId) ?? 'viewer' };
  });
};
