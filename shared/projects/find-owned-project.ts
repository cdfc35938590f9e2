import { ObjectId } from 'mongodb';
import type { Project } from './project.ts';
import { onProjects, type ProjectRecord, toProject } from './project-record.ts';
import type { Role } from './roles.ts';
import { type OwnerFacts, withOwner } from './with-owner.ts';

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
 * The active project by id that the developer owns or is a member of, in one aggregation; `undefined` for malformed,
 * unknown, deleted and other developers' ids. The plan is that of its owner.
 */
export const findOwnedProject = async (developerId: string, projectId: string): Promise<OwnedProject | undefined> => {
  if (!/^[0-9a-f]{24}$/i.test(projectId)) return undefined;
  const developer = new ObjectId(developerId);
  const [row] = await onProjects((projects) =>
    projects
      .aggregate<ProjectRecord & OwnerFacts>(
        [
          {
            $match: {
              _id: new ObjectId(projectId),
              state: 'active',
              $or: [{ ownerId: developer }, { 'members.developerId': developer }],
            },
          },
          ...withOwner,
        ],
        { maxTimeMS: 5000 },
      )
      .toArray(),
  );
  const role = row && roleIn(row, developerId);
  return row && role && { project: toProject(row), record: row, role };
};
