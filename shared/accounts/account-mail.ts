import { tryOrLog } from '../core/log.ts';
import { countAccountMail, overAccountLimit } from '../mail/account-limits.ts';
import { plainName, type UnwrittenMail } from '../mail/content.ts';
import { type QueuedMail, queueMail } from '../mail/send.ts';
import type { AccountRecord, AccountStore, MailOrigin } from './account-store.ts';

/** Accepts a mail to an account, counted against the project's day where the shared key sends it. */
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

/** What happened to the ways in which one signs in, as the mail says it. No word of it is a stranger's. */
export const accountChanges = {
  addressChangeAsked:
    'Another e-mail address was asked for, which counts once it is confirmed. A new password puts an end to that.',
  passwordChanged: 'Your password was changed.',
  factorAdded: 'An authenticator app was set up: signing in asks for its codes from now on.',
  factorRemoved: 'The authenticator app was removed: signing in does not ask for its codes any more.',
  recoveryCodesReplaced: 'The recovery codes were replaced: those from before do not count any more.',
  passkeyAdded: 'A passkey was added, which signs in without a password.',
  passkeyDeleted: 'A passkey was deleted: it does not sign in any more.',
  providerLinked: (name: string) => `Signing in with ${plainName(name)} was added.`,
  providerUnlinked: (name: string) => `Signing in with ${plainName(name)} was removed.`,
} as const;

/** Whom a mail reaches that tells of their account. */
export type Addressee = Pick<AccountRecord, 'email' | 'emailVerified' | 'isDisabled'>;

/**
 * Mails the owner of an account at the address that they have verified; at no other, which may be somebody else's. What
 * they are told of stands whether or not that succeeds.
 */
export const notifyOwner = async (
  store: AccountStore,
  account: Addressee | undefined,
  mail: Pick<UnwrittenMail, 'template' | 'variables'>,
): Promise<void> => {
  const { email: to, emailVerified, isDisabled } = account ?? {};
  if (to === undefined || emailVerified !== true || isDisabled) return;
  const message = 'A mail that tells of an account could not be queued';
  await tryOrLog('error', { message }, () => queueAccountMail(store.mailOrigin(), { ...mail, to }));
};

/** Tells the owner of an account what changed in how one signs in. */
export const notifyOfChange = (store: AccountStore, account: Addressee | undefined, change: string): Promise<void> =>
  notifyOwner(store, account, { template: 'account-change', variables: { change } });

/** Of a query or a fragment. */
export type Parameters = Readonly<Record<string, string>>;

/** The address of a page of a site, below the path that it has, with these parameters in its query and its fragment. */
export const sitePage = (siteUrl: string, page: string, query: Parameters, fragment: Parameters = {}): string => {
  const url = new URL(siteUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${page}`;
  url.search = new URLSearchParams(query).toString();
  url.hash = new URLSearchParams(fragment).toString();
  return url.href;
};
