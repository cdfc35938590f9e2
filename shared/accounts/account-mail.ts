import { clock, dayAt } from '../core/clock.ts';
import { mailSettings } from '../core/config.ts';
import { tryOrLog } from '../core/log.ts';
import { plainName, type UnwrittenMail } from '../mail/content.ts';
import { type QueuedMail, queueMail } from '../mail/send.ts';
import { type Counter, counterIn, newCall, reserve } from '../persistence/counters.ts';
import { itemKey, ownerScope } from '../persistence/item-keys.ts';
import * as kinds from '../persistence/table-keys.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import type { AccountRecord, AccountStore, MailOrigin } from './account-store.ts';

/** Queues an email to an account; with the shared key it counts against the project's daily limit. */
export const queueAccountMail = async (
  { project, siteName, usingByok = false }: MailOrigin,
  mail: Pick<QueuedMail, 'template' | 'to' | 'variables'>,
): Promise<void> => {
  const isCounted = project !== null && !usingByok;
  const isWithin = !isCounted || (await countAccountMail(project, { toNobody: mail.to === null }));
  await queueMail({
    ...mail,
    projectId: project?.id ?? null,
    siteName,
    usingByok,
    ...(!isWithin && { refusal: overAccountLimit }),
  });
};

/** Texts of security notifications. They contain nothing that an attacker could choose. */
export const accountChanges = {
  addressChangeAsked:
    'Another email address was requested for your account. It replaces this one when it is confirmed. To prevent that, set a new password.',
  passwordChanged: 'Your password was changed.',
  factorAdded: 'An authenticator app was set up. From now on, sign-in asks for its codes.',
  factorRemoved: 'The authenticator app was removed. Sign-in no longer asks for its codes.',
  recoveryCodesReplaced: 'The recovery codes were replaced. The old ones no longer work.',
  passkeyAdded: 'A passkey was added. It signs in without a password.',
  passkeyDeleted: 'A passkey was deleted. It no longer works.',
  providerLinked: (name: string) => `Signing in with ${plainName(name)} was added.`,
  providerUnlinked: (name: string) => `Signing in with ${plainName(name)} was removed.`,
} as const;

export type Addressee = Pick<AccountRecord, 'email' | 'emailVerified' | 'isDisabled'>;

/** Emails an account's owner, only at a verified address. Errors are only logged. */
export const notifyOwner = async (
  store: AccountStore,
  account: Addressee | undefined,
  mail: Pick<UnwrittenMail, 'template' | 'variables'>,
): Promise<void> => {
  const { email: to, emailVerified, isDisabled } = account ?? {};
  if (to === undefined || emailVerified !== true || isDisabled) return;
  const message = 'An email about an account could not be queued';
  await tryOrLog('error', { message }, () => queueAccountMail(store.mailOrigin(), { ...mail, to }));
};

/** Notifies the owner of a change to the sign-in methods. */
export const notifyOfChange = (store: AccountStore, account: Addressee | undefined, change: string): Promise<void> =>
  notifyOwner(store, account, { template: 'account-change', variables: { change } });

export type Parameters = Readonly<Record<string, string>>;

/** URL of a page below the path of a site. */
export const sitePage = (siteUrl: string, page: string, query: Parameters, fragment: Parameters = {}): string => {
  const url = new URL(siteUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${page}`;
  url.search = new URLSearchParams(query).toString();
  url.hash = new URLSearchParams(fragment).toString();
  return url.href;
};

/** Shown in the mail log. */
const overAccountLimit =
  'The project has sent as many emails of user accounts today as its plan allows with the shared key';

export type AccountMailSender = Pick<Project, 'id' | 'plan' | 'ownerKey'>;

/** Account emails per UTC day with the shared key; `null` is unlimited. */
const limitOf = ({ plan }: AccountMailSender): number | null => {
  const { ACCOUNT_MAILS_PER_DAY: set } = mailSettings();
  return set === 0 ? null : (set ?? plans[plan].accountMailsPerDay);
};

/** Counts per project, and per owner over all projects, deleted ones included. */
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
 * Counts an account email against the daily limits, in one conditional write; false if one is reached. With `toNobody`
 * it makes the same write and counts nothing, so that timing does not reveal accounts and requests for unknown
 * addresses do not use up the limit.
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
