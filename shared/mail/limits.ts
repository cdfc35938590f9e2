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

/** A number that mails count in: how far a plan lets it rise, in which window, and what is said once it has. */
interface Limited {
  readonly limit: (plan: Plan) => number;
  readonly window: (time: number) => Window;
  readonly refusal: (limit: number) => string;
}

const ownKey = 'or give the project a mail provider key of its own';

const limited = {
  /** The slots of a project's month. */
  used: {
    limit: ({ mailsPerMonth }) => mailsPerMonth,
    window: monthAt,
    refusal: (limit) =>
      `The monthly mail quota of this project is used up: its plan allows ${limit} mails a month. Wait for the next month, or change the plan.`,
  },
  /** Rows of a project's log in a day: as many as nobody needs who sends what the plan allows, whatever fails of it. */
  rows: {
    limit: ({ mailsPerMonth }) => 4 * mailsPerMonth,
    window: dayAt,
    refusal: (limit) =>
      `The mail log of this project takes ${limit} mails a day, those that failed or whose addresses are suppressed included. Try again tomorrow (UTC).`,
  },
  /** Mails of the shared key in an owner's month, from all their projects. */
  mails: {
    limit: ({ mailsPerMonth, projects }) => mailsPerMonth * projects,
    window: monthAt,
    refusal: (limit) =>
      `The owner of this project has used up the mails of the month with the mail key that all projects share: the plan allows ${limit} in all projects, deleted ones included. Wait for the next month, ${ownKey}.`,
  },
  /** Recipients of such mails. */
  recipients: {
    limit: ({ recipientsPerMonth }) => recipientsPerMonth,
    window: monthAt,
    refusal: (limit) =>
      `The owner of this project has used up the recipients of the month with the mail key that all projects share: the plan allows ${limit} in all projects, deleted ones included, and each address of each mail counts. Wait for the next month, ${ownKey}.`,
  },
  /** Such recipients in a day of the whole service; 0 for any number. */
  today: {
    limit: () => mailSettings().MAIL_RECIPIENTS_PER_DAY,
    window: dayAt,
    refusal: () =>
      `This service has sent as many mails as it may today with the mail key that all projects share. Try again tomorrow (UTC), ${ownKey}.`,
  },
} as const satisfies Readonly<Record<string, Limited>>;

type LimitName = keyof typeof limited;

/** What mails add to a number; an item of a month has the `rows` of each of its days. */
export const countOf = (name: LimitName, weight: number, plan: PlanName): Count => ({
  name: name === 'rows' ? `rows${new Date(clock.now()).getUTCDate()}` : name,
  weight,
  limit: limited[name].limit(plans[plan]),
});

/** The longest that a caller is told to wait: a plan can change, and slots come back. */
const maxRetryAfterSeconds = 24 * 3600;

/** The day whose end this process has told the operator of; nobody can have it told more often by asking again. */
let toldOf = '';

const tellOperator = (limit: number): void => {
  const { name: day } = dayAt(clock.now());
  if (toldOf === day) return;
  toldOf = day;
  const message = 'The shared mail key has as many recipients today as MAIL_RECIPIENTS_PER_DAY allows';
  log.warn({ message, day, limit });
};

const isLimited = (name: string): name is LimitName => Object.hasOwn(limited, name);

/** 429 `MAIL_QUOTA_EXCEEDED`: which number has no room, and until when, for a day at most. */
export const quotaExceeded = ({ name, limit }: Pick<Count, 'name' | 'limit'>): AppError => {
  if (name === 'today') tellOperator(limit);
  const { window, refusal } = limited[isLimited(name) ? name : 'rows'];
  const now = clock.now();
  const retryAfter = Math.min(maxRetryAfterSeconds, secondsLeft(window(now), now));
  return new AppError('MAIL_QUOTA_EXCEEDED', refusal(limit), { retryAfter });
};

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
export const monthCounter = (projectId: string, month: string, counts: readonly Count[]): Counter => ({
  key: monthKey(projectId, month),
  expiresAt: Math.floor(Date.parse(`${month}-01`) / 1000) + keptSeconds,
  counts,
});

/** What counts some mails of the shared key beyond their project; `plan` is the owner's, for what is taken. */
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

/**
 * The owner's address is verified, or the project has a mail key of its own; else 403 `EMAIL_NOT_VERIFIED`. What is
 * known of the owner may be some seconds old, so that whoever is about to be refused is looked up again.
 */
export const requireVerifiedOwner = async (project: Sender): Promise<void> => {
  if (project.sealedProviderApiKey !== null || project.ownerVerified) return;
  const now = await loadProject(new ObjectId(project.id));
  if (!now?.ownerVerified) throw notVerified();
};

/** What mails take of the owner's month and the service's day, by recipients; nothing with an own key. */
export const sharedUse = (
  { ownerKey, sealedProviderApiKey }: Sender,
  mails: readonly { readonly _id: ObjectId; readonly to: readonly string[] }[],
): Pick<MailUse, 'shared'> => {
  if (sealedProviderApiKey !== null) return {};
  const recipients = Object.fromEntries(mails.map(({ _id, to }) => [_id.toHexString(), to.length]));
  return { shared: { owner: ownerKey, recipients } };
};
