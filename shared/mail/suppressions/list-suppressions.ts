import { AppError } from '../../core/errors.ts';
import type { Page, PageRequest } from '../../core/page.ts';
import type { Project } from '../../projects/project.ts';
import { onSuppressions, type Suppression, type SuppressionReason, suppressionsOf } from './suppression.ts';

/** A suppressed address as the dashboard shows it. */
export interface SuppressionView {
  readonly email: string;
  readonly reason: SuppressionReason;
  readonly providerEmailId: string | null;
  readonly createdAt: Date;
}

const toView = ({ email, reason, providerEmailId, createdAt }: Suppression): SuppressionView => ({
  email,
  reason,
  providerEmailId,
  createdAt,
});

/** A page of the addresses that a project's mails leave out, the newest first. */
export const listSuppressions = async (
  project: Project,
  { page, limit }: PageRequest,
): Promise<Page<SuppressionView>> => {
  const own = suppressionsOf(project.id);
  const [records, total] = await onSuppressions((suppressions) =>
    Promise.all([
      suppressions.find(own, { sort: { _id: -1 }, skip: (page - 1) * limit, limit, maxTimeMS: 5000 }).toArray(),
      suppressions.countDocuments(own, { maxTimeMS: 5000 }),
    ]),
  );
  return { items: records.map(toView), total, page, limit };
};

/** Lets an address have the project's mails again; not suppressed → 404 `SUPPRESSION_NOT_FOUND`. */
export const deleteSuppression = async (project: Project, email: string): Promise<void> => {
  const { deletedCount } = await onSuppressions((suppressions) =>
    suppressions.deleteOne(suppressionsOf(project.id, email)),
  );
  if (deletedCount === 0) throw new AppError('SUPPRESSION_NOT_FOUND', 'This address is not suppressed.');
};
