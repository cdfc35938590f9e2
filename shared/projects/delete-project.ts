import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { projectSaved } from '../core/saved-projects.ts';
import type { OwnedProject } from './find-owned-project.ts';
import { onProjects } from './project-record.ts';

/**
 * Marks a project as being deleted: from now on no look-up finds it or its keys, and its slot is free again. What it
 * owns is removed by `removeDeletedProjects`.
 */
export const deleteProject = async ({ record }: OwnedProject): Promise<void> => {
  const now = new Date(clock.now());
  const { matchedCount } = await onProjects((projects) =>
    projects.updateOne(
      { _id: record._id, state: 'active' },
      { $set: { state: 'deleting', deletingSince: now, updatedAt: now } },
    ),
  );
  if (matchedCount === 0) throw new AppError('PROJECT_NOT_FOUND', 'Project not found');
  projectSaved(record._id.toHexString());
};
