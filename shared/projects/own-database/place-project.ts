import { clock } from '../../core/clock.ts';
import { changeProject } from '../change-project.ts';
import type { OwnedProject } from '../find-owned-project.ts';
import type { Project } from '../project.ts';
import { type PlacementRecord, toPlacement } from '../project-record.ts';
import type { ProjectView } from '../project-view.ts';

/** The project as it will be once its documents live there. */
export const placedIn = (project: Project, placement: PlacementRecord): Project => ({
  ...project,
  placement: toPlacement(project.id, placement),
});

/** Changes where the project's documents are; takes effect in every function within 5 s, in this process at once. */
export const placeProject = (owned: OwnedProject, placement: PlacementRecord): Promise<ProjectView> =>
  changeProject(owned, { $set: { placement, updatedAt: new Date(clock.now()) } });
