import type { Document, Filter, UpdateFilter } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { projectSaved } from '../core/saved-projects.ts';
import type { OwnedProject } from './find-owned-project.ts';
import { type ProjectRecord, projectRecords } from './project-record.ts';
import { type ProjectView, toProjectView } from './project-view.ts';

export const projectNotFound = (): AppError => new AppError('PROJECT_NOT_FOUND', 'Project not found');

/** Changes the record of an active project that matches a condition, by one write; `null` where none does. */
export const changeProjectIf = async (
  { project, record: { _id } }: OwnedProject,
  update: UpdateFilter<ProjectRecord> | Document[],
  condition: Filter<ProjectRecord>,
): Promise<ProjectView | null> => {
  const filter = { ...condition, _id, state: 'active' as const };
  const updated = await projectRecords.findOneAndUpdate(filter, update, { returnDocument: 'after' });
  if (!updated) return null;
  projectSaved(project.id);
  return toProjectView(updated, project.plan);
};

/**
 * Changes the record of an active project; takes effect in every function within 5 s, in this process at once. Gone →
 * 404 `PROJECT_NOT_FOUND`.
 */
export const changeProject = async (
  owned: OwnedProject,
  update: UpdateFilter<ProjectRecord> | Document[],
): Promise<ProjectView> => {
  const changed = await changeProjectIf(owned, update, {});
  if (!changed) throw projectNotFound();
  return changed;
};
