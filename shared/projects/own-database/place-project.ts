import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { projectSaved } from '../../core/saved-projects.ts';
import type { OwnedProject } from '../find-owned-project.ts';
import type { Project } from '../project.ts';
import { onProjects, type PlacementRecord, toPlacement } from '../project-record.ts';
import { type ProjectView, toProjectView } from '../project-view.ts';

/** The project as it will be once its documents live there. */
export const placedIn = (project: Project, placement: PlacementRecord): Project => ({
  ...project,
  placement: toPlacement(project.id, placement),
});

/** Changes where the project's documents are; takes effect in every function within 5 s, in this process at once. */
export const placeProject = async (
  { project, record }: OwnedProject,
  placement: PlacementRecord,
): Promise<ProjectView> => {
  const updated = await onProjects((projects) =>
    projects.findOneAndUpdate(
      { _id: record._id, state: 'active' },
      { $set: { placement, updatedAt: new Date(clock.now()) } },
      { returnDocument: 'after' },
    ),
  );
  if (!updated) throw new AppError('PROJECT_NOT_FOUND', 'Project not found');
  projectSaved(project.id);
  return toProjectView(updated, project.plan);
};
