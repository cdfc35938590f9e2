import { describeError, log } from '../core/log.ts';
import { plainName } from '../mail/sender.ts';
import type { AccountRecord, AccountStore } from './account-store.ts';
import { queueAccountMail } from './queue-account-mail.ts';

/** What happened to the ways in which one signs in, as the mail says it. No word of it is a stranger's. */
export const accountChanges = {
  passwordChanged: 'Your password was changed.',
  factorAdded: 'An authenticator app was set up: signing in asks for its codes from now on.',
  factorRemoved: 'The authenticator app was removed: signing in does not ask for its codes any more.',
  passkeyAdded: 'A passkey was added, which signs in without a password.',
  passkeyDeleted: 'A passkey was deleted: it does not sign in any more.',
  providerLinked: (name: string) => `Signing in with ${plainName(name)} was added.`,
  providerUnlinked: (name: string) => `Signing in with ${plainName(name)} was removed.`,
} as const;

/**
 * Mails the owner of an account what changed in how one signs in, to the address that they have verified; to no other,
 * which may be somebody else's. The change stands whether or not that succeeds.
 */
export const tellOfChange = async (
  store: AccountStore,
  account: Pick<AccountRecord, 'email' | 'emailVerified' | 'isDisabled'> | undefined,
  change: string,
): Promise<void> => {
  if (account?.email === undefined || account.emailVerified !== true || account.isDisabled) return;
  try {
    const mail = { template: 'account-change', to: account.email, variables: { change } } as const;
    await queueAccountMail(store.mailOrigin(), mail);
  } catch (error) {
    log.error({ message: 'A mail that tells of a changed account could not be queued', error: describeError(error) });
  }
};
