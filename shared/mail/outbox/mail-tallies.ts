import { clock } from '../../core/clock.ts';
import { mailSettings } from '../../core/config.ts';
import { plans } from '../../projects/plans.ts';
import type { Project } from '../../projects/project.ts';
import type { Count, Tally } from '../../table/count-writes.ts';
import { itemKey, ownerScope, partitionKey, projectScope } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { dayAt, expiryOf, monthAt } from '../../table/windows.ts';

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

/** The names of what is limited. */
export const counted = { slots: 'used', mails: 'mails', recipients: 'recipients', ofService: 'today' } as const;

/** As many as nobody needs who sends what the plan allows, however much of it fails or is suppressed. */
const rowsPerMail = 4;

/** How long the count of a project's month is kept after its begin, in seconds. */
const keptSeconds = 400 * 24 * 3600;

/** The month of a time, `yyyy-mm`. */
export const monthOf = (time: number): string => monthAt(time).name;

export const limitOf = ({ plan }: Pick<Project, 'plan'>): number => plans[plan].mailsPerMonth;

/** How many mails of the shared key, and recipients of such mails, all projects of an owner may have a month. */
export const ownerLimits = (plan: Project['plan']) => ({
  mails: plans[plan].mailsPerMonth * plans[plan].projects,
  recipients: plans[plan].recipientsPerMonth,
});

/** How many rows a project's log takes a day (UTC), those of mails that fail or are suppressed included. */
export const rowsPerDay = (project: Pick<Project, 'plan'>): number => rowsPerMail * limitOf(project);

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

/** Rows of the log, against the day. */
export const rowsCount = (project: Pick<Project, 'plan'>, rows: number): Count => ({
  name: `rows${new Date(clock.now()).getUTCDate()}`,
  weight: rows,
  limit: rowsPerDay(project),
});

/** What counts some mails of the shared key beyond their project; `plan` is the owner's. */
export const sharedTallies = (
  { owner, recipients, day }: SharedUse,
  ids: readonly string[],
  month: string,
  plan: Project['plan'] = 'free',
): Tally[] => {
  const counts = ids.flatMap((id) => recipients[id] ?? []);
  if (counts.length === 0) return [];
  const weight = counts.reduce((sum, count) => sum + count, 0);
  const limits = ownerLimits(plan);
  const { MAIL_RECIPIENTS_PER_DAY: limit } = mailSettings();
  const ofOwner: Tally = {
    key: ownerMonthKey(owner, month),
    expiresAt: expiryOf(monthAt(Date.parse(`${month}-01`))),
    counts: [
      { name: counted.mails, weight: counts.length, limit: limits.mails },
      { name: counted.recipients, weight, limit: limits.recipients },
    ],
  };
  if (day === undefined || limit === 0) return [ofOwner];
  const ofService: Tally = {
    key: itemKey(kinds.serviceRecipients, partitionKey('service'), { day }),
    expiresAt: expiryOf(dayAt(Date.parse(day))),
    counts: [{ name: counted.ofService, weight, limit }],
  };
  return [ofOwner, ofService];
};
