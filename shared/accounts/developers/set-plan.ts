import { AppError } from '../../core/errors.ts';
import type { PlanName } from '../../projects/project.ts';
import { canonicalEmail } from '../email.ts';
import { developerAccounts } from '../stores/developers.ts';

/** Puts a developer on a plan; the operator's own act, no route does it. Unknown address → `NOT_FOUND`. */
export const setPlan = async (email: string, plan: PlanName): Promise<void> => {
  const isSet = await developerAccounts.write({ email: { $eq: canonicalEmail(email) } }, { $set: { plan } });
  if (!isSet) throw new AppError('NOT_FOUND', 'No developer has this e-mail address.');
};
