import type { Document, Filter, UpdateFilter } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { projectSaved } from '../core/saved-projects.ts';
import type { OwnedProject } from './find-owned-project.ts';
import { type ProjectRecord, projectRecords } from './project-record.ts';
import { type ProjectView, toProjectView } from './project-view.ts';

export const projectNotFound = (): AppError => new AppError('PROJECT_NOT_FOUND', 'Project not found');

/**
 * Changes the record of an active project, by one write; takes effect in every function within 5 s, in this process at
 * once. Gone → 404 `PROJECT_NOT_FOUND`; where it does not match the `conditions`, what `refusal` says.
 */
export const changeProject = async (
  { project, record: { _id } }: OwnedProject,
  update: UpdateFilter<ProjectRecord> | Document[],
  conditions: readonly Filter<ProjectRecord>[] = [],
  refusal: () => AppError | Promise<AppError> = projectNotFound,
): Promise<ProjectView> => {
  const filter = { $and: [{ _id, state: 'active' as const }, ...conditions] };
  const updated = await projectRecords.findOneAndUpdate(filter, update, { returnDocument: 'after' });
  if (!updated) throw await refusal();
  projectSaved(project.id);
  return toProjectView(updated, project.plan);
};
