import { clock } from '../../core/clock.ts';
import { mailSettings } from '../../core/config.ts';
import { plans } from '../../projects/plans.ts';
import type { Project } from '../../projects/project.ts';
import { type Tally, tallyIn } from '../../table/count-writes.ts';
import { newCall, take } from '../../table/counter.ts';
import { itemKey, ownerScope } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { dayAt } from '../../table/windows.ts';

/** Why a mail over the limit was not sent, as the mail log shows it. */
export const overAccountLimit =
  'The project has sent as many mails of user accounts today as its plan allows with the shared key';

/** Whose mails are counted. */
export type AccountMailSender = Pick<Project, 'id' | 'plan' | 'ownerKey'>;

/** How many mails of user accounts a project may send a day (UTC) with the shared key; `null` for any number. */
const limitOf = ({ plan }: AccountMailSender): number | null => {
  const { ACCOUNT_MAILS_PER_DAY: set } = mailSettings();
  return set === 0 ? null : (set ?? plans[plan].accountMailsPerDay);
};

/** What counts a day's mails: for the project, and for all projects of its owner, deleted ones included. */
export const accountMailTally = ({ id, plan, ownerKey }: AccountMailSender, limit: number, weight: 0 | 1): Tally => {
  const day = dayAt(clock.now());
  const ofOwner = { name: 'n', weight, limit: limit * plans[plan].projects };
  const key = itemKey(kinds.accountMails, ownerScope(ownerKey), { day: day.name });
  return tallyIn(day, key, { name: `n_${id}`, weight, limit }, ofOwner);
};

/**
 * Counts a verification or reset mail against the daily limits, by one conditional write; false if one is reached
 * (contract 5, "Account mails"). With `toNobody` it makes the same write and counts nothing, so that timing does not
 * reveal who has an account, and requests for unknown addresses do not use up the limit.
 */
export const countAccountMail = async (
  project: AccountMailSender,
  { toNobody }: { readonly toNobody: boolean },
): Promise<boolean> => {
  const limit = limitOf(project);
  if (limit === null) return true;
  const { taken } = await take({ call: newCall(), tallies: [accountMailTally(project, limit, toNobody ? 0 : 1)] });
  return taken;
};
