import type { PlanName, Project } from '../../projects/project.ts';
import { type Count, type Tally, tallyIn } from '../../table/count-writes.ts';
import { itemKey, ownerScope, partitionKey, projectScope } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { dayAt, monthAt } from '../../table/windows.ts';
import { countOf } from './quota-limits.ts';

// What counts mails. A project's month: slots in `used`, the rows that the log gets in one number a day, and in `held`
// the mails whose slots could still come back. For mails of the key that all share besides: the owner's month, which
// goes on whatever projects they delete, and the day of the whole service.

export type Account = Pick<Project, 'id' | 'plan'>;

/** Who answers for mails of the shared key, and how many recipients each has, by the mail's id. */
export interface SharedUse {
  /** `ownerKeyOf` the owner. */
  readonly owner: string;
  readonly recipients: Readonly<Record<string, number>>;
  /** The day, `yyyy-mm-dd`, that the service counts them on; missing where it counts them no more. */
  readonly day?: string;
}

/** How long the count of a project's month is kept after its begin, in seconds. */
const keptSeconds = 400 * 24 * 3600;

/** The month of a time, `yyyy-mm`. */
export const monthOf = (time: number): string => monthAt(time).name;

/** The key of a project's month, `yyyy-mm`. */
export const monthKey = (projectId: string, month: string) =>
  itemKey(kinds.mailMonth, projectScope(projectId), { month });

/** The same of an owner's month. */
export const ownerMonthKey = (ownerKey: string, month: string) =>
  itemKey(kinds.ownerMails, ownerScope(ownerKey), { month });

/** The item of a project's month, with these numbers. */
export const monthTally = (projectId: string, month: string, counts: readonly Count[]): Tally => ({
  key: monthKey(projectId, month),
  expiresAt: Math.floor(Date.parse(`${month}-01`) / 1000) + keptSeconds,
  counts,
});

/** What counts some mails of the shared key beyond their project; `plan` is the owner's, for what is taken. */
export const sharedTallies = (
  { owner, recipients, day }: SharedUse,
  ids: readonly string[],
  month: string,
  plan: PlanName = 'free',
): Tally[] => {
  const counts = ids.flatMap((id) => recipients[id] ?? []);
  if (counts.length === 0) return [];
  const weight = counts.reduce((sum, count) => sum + count, 0);
  const ofOwner = tallyIn(
    monthAt(Date.parse(`${month}-01`)),
    ownerMonthKey(owner, month),
    countOf('mails', counts.length, plan),
    countOf('recipients', weight, plan),
  );
  const today = countOf('today', weight, plan);
  if (day === undefined || today.limit === 0) return [ofOwner];
  const serviceKey = itemKey(kinds.serviceRecipients, partitionKey('service'), { day });
  return [ofOwner, tallyIn(dayAt(Date.parse(day)), serviceKey, today)];
};
