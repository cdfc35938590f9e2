import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { plans } from '../../projects/plans.ts';
import type { PlanName, Project } from '../../projects/project.ts';
import { type Taking, tallyIn } from '../../table/count-writes.ts';
import { newCall, take } from '../../table/counter.ts';
import { itemKey, ownerScope } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { monthAt, secondsLeft } from '../../table/windows.ts';

type CountedProject = Pick<Project, 'id' | 'plan' | 'ownerKey'>;

const inAll = 'n';

const overLimit = (plan: PlanName, ofOwner: boolean, retryAfter: number): AppError => {
  const { proposals, projects } = plans[plan];
  const said = ofOwner
    ? `The ${plan} plan allows an owner ${proposals * projects} proposals a month in all projects, deleted ones included.`
    : `The ${plan} plan allows a project ${proposals} proposals a month.`;
  return new AppError(
    'ASSISTANT_QUOTA_EXCEEDED',
    `${said} Define the schema by hand, or ask the operator of this service for a larger plan.`,
    { retryAfter },
  );
};

/**
 * Counts one proposal for a project and its owner, by one conditional write; more than the plan allows a month, or than
 * it allows all its projects, those that were deleted meanwhile included → 429 `ASSISTANT_QUOTA_EXCEEDED`.
 */
export const countProposal = async ({ id, plan, ownerKey }: CountedProject): Promise<Taking> => {
  const now = clock.now();
  const month = monthAt(now);
  const { proposals, projects } = plans[plan];
  const key = itemKey(kinds.proposals, ownerScope(ownerKey), { month: month.name });
  const ofProject = { name: `n_${id}`, weight: 1, limit: proposals };
  const ofOwner = { name: inAll, weight: 1, limit: proposals * projects };
  const taking: Taking = { call: newCall(), tallies: [tallyIn(month, key, ofProject, ofOwner)] };
  const outcome = await take(taking);
  if (outcome.taken) return taking;
  throw overLimit(plan, outcome.full?.name === inAll, secondsLeft(month, now));
};
