import { orLog } from '../core/log.ts';
import type { UnwrittenMail } from '../mail/mail-content.ts';
import { plainName } from '../mail/sender.ts';
import type { AccountRecord, AccountStore } from './account-store.ts';
import { queueAccountMail } from './queue-account-mail.ts';

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
export const tellOwner = async (
  store: AccountStore,
  account: Addressee | undefined,
  mail: Pick<UnwrittenMail, 'template' | 'variables'>,
): Promise<void> => {
  const { email: to, emailVerified, isDisabled } = account ?? {};
  if (to === undefined || emailVerified !== true || isDisabled) return;
  const message = 'A mail that tells of an account could not be queued';
  await orLog('error', { message }, () => queueAccountMail(store.mailOrigin(), { ...mail, to }));
};

/** Tells the owner of an account what changed in how one signs in. */
export const tellOfChange = (store: AccountStore, account: Addressee | undefined, change: string): Promise<void> =>
  tellOwner(store, account, { template: 'account-change', variables: { change } });
