import { ObjectId } from 'mongodb';
import { onControl } from '../clients/mongo.ts';
import type { PlanName, Project } from './project.ts';
import { type ProjectRecord, toProject } from './project-record.ts';

/** A project together with its record, for the developer who owns it. */
export interface OwnedProject {
  readonly project: Project;
  readonly record: ProjectRecord;
}

/** The developer's own active project by id; `undefined` for malformed, unknown, deleted and other developers' ids. */
export const findOwnedProject = async (developerId: string, projectId: string): Promise<OwnedProject | undefined> => {
  if (!/^[0-9a-f]{24}$/i.test(projectId)) return undefined;
  const [row] = await onControl((db) =>
    db
      .collection('projects')
      .aggregate<ProjectRecord & { readonly plan?: PlanName }>(
        [
          { $match: { _id: new ObjectId(projectId), ownerId: new ObjectId(developerId), state: 'active' } },
          { $lookup: { from: 'developers', localField: 'ownerId', foreignField: '_id', as: 'owner' } },
          { $set: { plan: { $first: '$owner.plan' } } },
          { $unset: 'owner' },
        ],
        { maxTimeMS: 5000 },
      )
      .toArray(),
  );
  return row && { project: toProject(row, row.plan ?? 'free'), record: row };
};
