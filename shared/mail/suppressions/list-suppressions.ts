import { findPage } from '../../clients/find-page.ts';
import { AppError } from '../../core/errors.ts';
import type { Page, PageRequest } from '../../core/page.ts';
import { viewOf } from '../../core/view.ts';
import type { Project } from '../../projects/project.ts';
import { onSuppressions, type Suppression, suppressionsOf } from './suppression.ts';

/** A suppressed address as the dashboard shows it. */
export type SuppressionView = ReturnType<typeof toView>;

const toView = (record: Suppression) => viewOf(record, ['email', 'reason', 'providerEmailId', 'createdAt']);

/** A page of the addresses that a project's mails leave out, the newest first. */
export const listSuppressions = async (project: Project, request: PageRequest): Promise<Page<SuppressionView>> => {
  const found = await findPage(onSuppressions, suppressionsOf(project.id), request, { sort: { _id: -1 } });
  return { ...found, items: found.items.map(toView) };
};

/** Lets an address have the project's mails again; not suppressed → 404 `SUPPRESSION_NOT_FOUND`. */
export const deleteSuppression = async (project: Project, email: string): Promise<void> => {
  const { deletedCount } = await onSuppressions((suppressions) =>
    suppressions.deleteOne(suppressionsOf(project.id, email)),
  );
  if (deletedCount === 0) throw new AppError('SUPPRESSION_NOT_FOUND', 'This address is not suppressed.');
};
