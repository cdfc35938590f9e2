import { ObjectId } from 'mongodb';
import { clock, dayAt } from '../core/clock.ts';
import { mailSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { type Counter, counterIn, newCall, reserve } from '../persistence/counters.ts';
import { itemKey, ownerScope } from '../persistence/item-keys.ts';
import * as kinds from '../persistence/table-keys.ts';
import { loadProject } from '../projects/find-project.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import type { MailUse } from './quota.ts';

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
export const accountMailCounter = (
  { id, plan, ownerKey }: AccountMailSender,
  limit: number,
  weight: 0 | 1,
): Counter => {
  const day = dayAt(clock.now());
  const ofOwner = { name: 'n', weight, limit: limit * plans[plan].projects };
  const key = itemKey(kinds.accountMails, ownerScope(ownerKey), { day: day.name });
  return counterIn(day, key, { name: `n_${id}`, weight, limit }, ofOwner);
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
  const { taken } = await reserve({ call: newCall(), tallies: [accountMailCounter(project, limit, toNobody ? 0 : 1)] });
  return taken;
};
