import { idOf } from '../core/id-of.ts';
import type { Project } from './project.ts';
import { type ProjectRecord, projectRecords, toProject } from './project-record.ts';
import type { Role } from './roles.ts';
import { type FindOwner, loadOwner } from './with-owner.ts';

/** A project, its record, and the developer's role in it, for its owner and members. */
export interface OwnedProject {
  readonly project: Project;
  readonly record: ProjectRecord;
  readonly role: Role;
}

/** The role of a developer, 24 hex characters, in a project; `undefined` for a stranger. */
export const roleIn = ({ ownerId, members = [] }: ProjectRecord, developerId: string): Role | undefined => {
  if (ownerId.toHexString() === developerId) return 'owner';
  return members.find((member) => member.developerId.toHexString() === developerId)?.role;
};

/**
 * The active project by id that the developer owns or is a member of, as it is now; `undefined` for malformed, unknown,
 * deleted and other developers' ids, and where the account of the developer, or of the owner, is deleted. The plan is
 * that of its owner. Found by the `_id` alone, which costs the database half, and beside the developer, who mostly is
 * the owner.
 */
export const findOwnedProject = async (
  developerId: string,
  projectId: string,
  ownerOf: FindOwner = loadOwner,
): Promise<OwnedProject | undefined> => {
  const _id = idOf(projectId);
  if (!_id) return undefined;
  const [record, own] = await Promise.all([projectRecords.findOne({ _id }), ownerOf(developerId)]);
  const role = record?.state === 'active' ? roleIn(record, developerId) : undefined;
  if (!record || !role || own.ownerEmail === undefined) return undefined;
  const facts = role === 'owner' ? own : await ownerOf(record.ownerId.toHexString());
  if (facts.ownerEmail === undefined) return undefined;
  return { project: toProject({ ...record, ...facts }), record, role };
};
