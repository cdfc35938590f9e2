import { ObjectId } from 'mongodb';
import { clock, dayAt, monthAt, secondsLeft, type Window } from '../core/clock.ts';
import { mailSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { log } from '../core/log.ts';
import { type Count, type Counter, counterIn } from '../persistence/counters.ts';
import { itemKey, ownerScope, partitionKey, projectScope } from '../persistence/item-keys.ts';
import * as kinds from '../persistence/table-keys.ts';
import { loadProject } from '../projects/find-project.ts';
import { type Plan, plans } from '../projects/plans.ts';
import type { PlanName, Project } from '../projects/project.ts';
import type { MailUse } from './quota.ts';

/** A counter: its limit by plan, its window, and the error message. */
interface Limited {
  readonly limit: (plan: Plan) => number;
  readonly window: (time: number) => Window;
  readonly refusal: (limit: number) => string;
}

const ownKey = 'or give the project a mail provider key of its own';

const limited = {
  /** Slots of a project's month. */
  used: {
    limit: ({ mailsPerMonth }) => mailsPerMonth,
    window: monthAt,
    refusal: (limit) =>
      `The monthly mail quota of this project is used up: its plan allows ${limit} emails a month. Wait for the next month, or change the plan.`,
  },
  /** Log entries per day, failed ones included: four times the monthly quota, which no legitimate sender reaches. */
  rows: {
    limit: ({ mailsPerMonth }) => 4 * mailsPerMonth,
    window: dayAt,
    refusal: (limit) =>
      `The mail log of this project takes ${limit} emails a day, including failed and suppressed ones. Retry tomorrow (UTC).`,
  },
  /** Emails with the shared key per owner and month, over all projects. */
  mails: {
    limit: ({ mailsPerMonth, projects }) => mailsPerMonth * projects,
    window: monthAt,
    refusal: (limit) =>
      `The monthly limit of emails with the shared mail key is reached: the plan allows ${limit} for all projects of an owner, including deleted ones. Wait for the next month, ${ownKey}.`,
  },
  recipients: {
    limit: ({ recipientsPerMonth }) => recipientsPerMonth,
    window: monthAt,
    refusal: (limit) =>
      `The monthly limit of recipients with the shared mail key is reached: the plan allows ${limit} for all projects of an owner, including deleted ones. Each address of each email counts. Wait for the next month, ${ownKey}.`,
  },
  /** Recipients with the shared key per day, over the whole service; 0 for no limit. */
  today: {
    limit: () => mailSettings().MAIL_RECIPIENTS_PER_DAY,
    window: dayAt,
    refusal: () => `The shared mail key has reached its daily limit. Retry tomorrow (UTC), ${ownKey}.`,
  },
} as const satisfies Readonly<Record<string, Limited>>;

type LimitName = keyof typeof limited;

/** A month's item has one `rows` number per day. */
export const countOf = (name: LimitName, weight: number, plan: PlanName): Count => ({
  name: name === 'rows' ? `rows${new Date(clock.now()).getUTCDate()}` : name,
  weight,
  limit: limited[name].limit(plans[plan]),
});

/** At most a day, because a plan can change and slots are refunded. */
const maxRetryAfterSeconds = 24 * 3600;

/** Day for which the operator was already warned by this process. */
let warnedDay = '';

const warnOperator = (limit: number): void => {
  const { name: day } = dayAt(clock.now());
  if (warnedDay === day) return;
  warnedDay = day;
  const message = 'The shared mail key has as many recipients today as MAIL_RECIPIENTS_PER_DAY allows';
  log.warn({ message, day, limit });
};

const isLimited = (name: string): name is LimitName => Object.hasOwn(limited, name);

/** 429 `MAIL_QUOTA_EXCEEDED` with the counter that is full. */
export const quotaExceeded = ({ name, limit }: Pick<Count, 'name' | 'limit'>): AppError => {
  if (name === 'today') warnOperator(limit);
  const { window, refusal } = limited[isLimited(name) ? name : 'rows'];
  const now = clock.now();
  const retryAfter = Math.min(maxRetryAfterSeconds, secondsLeft(window(now), now));
  return new AppError('MAIL_QUOTA_EXCEEDED', refusal(limit), { retryAfter });
};

// A project's month counts slots in `used`, log entries per day in `rows<day>`, and in `held` the emails whose slots
// can still be refunded. The shared key is also counted per owner and month, whatever projects they delete, and per day
// for the service.

export type Account = Pick<Project, 'id' | 'plan'>;

/** Counts of the shared key; `recipients` by email id. */
export interface SharedUse {
  /** See `ownerKeyOf`. */
  readonly owner: string;
  readonly recipients: Readonly<Record<string, number>>;
  /** `yyyy-mm-dd`; missing if the service's day is not counted any more. */
  readonly day?: string;
}

const keptSeconds = 400 * 24 * 3600;

/** `yyyy-mm`. */
export const monthOf = (time: number): string => monthAt(time).name;

export const monthKey = (projectId: string, month: string) =>
  itemKey(kinds.mailMonth, projectScope(projectId), { month });

export const ownerMonthKey = (ownerKey: string, month: string) =>
  itemKey(kinds.ownerMails, ownerScope(ownerKey), { month });

export const monthCounter = (projectId: string, month: string, counts: readonly Count[]): Counter => ({
  key: monthKey(projectId, month),
  expiresAt: Math.floor(Date.parse(`${month}-01`) / 1000) + keptSeconds,
  counts,
});

/** `plan` is the owner's; it only matters when reserving. */
export const sharedCounters = (
  { owner, recipients, day }: SharedUse,
  ids: readonly string[],
  month: string,
  plan: PlanName = 'free',
): Counter[] => {
  const counts = ids.flatMap((id) => recipients[id] ?? []);
  if (counts.length === 0) return [];
  const weight = counts.reduce((sum, count) => sum + count, 0);
  const ofOwner = counterIn(
    monthAt(Date.parse(`${month}-01`)),
    ownerMonthKey(owner, month),
    countOf('mails', counts.length, plan),
    countOf('recipients', weight, plan),
  );
  const today = countOf('today', weight, plan);
  if (day === undefined || today.limit === 0) return [ofOwner];
  const serviceKey = itemKey(kinds.serviceRecipients, partitionKey('service'), { day });
  return [ofOwner, counterIn(dayAt(Date.parse(day)), serviceKey, today)];
};

type Sender = Pick<Project, 'id' | 'ownerKey' | 'ownerVerified' | 'sealedProviderApiKey'>;

const notVerified = (): AppError =>
  new AppError(
    'EMAIL_NOT_VERIFIED',
    "To send email with the shared key, the project's owner must verify their email address. Use the link or code from the registration email, or request another with POST /api/auth/resend-verification of the dashboard API. Or set the project's own mail provider key.",
  );

/** Throws 403 `EMAIL_NOT_VERIFIED`. `project` may be cached, so the owner is read again before the error. */
export const requireVerifiedOwner = async (project: Sender): Promise<void> => {
  if (project.sealedProviderApiKey !== null || project.ownerVerified) return;
  const now = await loadProject(new ObjectId(project.id));
  if (!now?.ownerVerified) throw notVerified();
};

/** What the shared key counts; empty with the project's own key. */
export const sharedUse = (
  { ownerKey, sealedProviderApiKey }: Sender,
  mails: readonly { readonly _id: ObjectId; readonly to: readonly string[] }[],
): Pick<MailUse, 'shared'> => {
  if (sealedProviderApiKey !== null) return {};
  const recipients = Object.fromEntries(mails.map(({ _id, to }) => [_id.toHexString(), to.length]));
  return { shared: { owner: ownerKey, recipients } };
};
