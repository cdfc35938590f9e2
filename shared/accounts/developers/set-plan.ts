import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { PlanName } from '../../projects/project.ts';
import { canonicalEmail } from '../email.ts';
import type { DeveloperRecord } from './developer-record.ts';

/** Puts a developer on a plan; the operator's own act, no route does it. Unknown address → `NOT_FOUND`. */
export const setPlan = async (email: string, plan: PlanName): Promise<void> => {
  const { matchedCount } = await onControl((db) =>
    db
      .collection<DeveloperRecord>('developers')
      .updateOne({ email: { $eq: canonicalEmail(email) } }, { $set: { plan, updatedAt: new Date(clock.now()) } }),
  );
  if (matchedCount === 0) throw new AppError('NOT_FOUND', 'No developer has this e-mail address.');
};
