import type { Document, ObjectId } from 'mongodb';
import { nowSeconds } from '../core/clock.ts';
import { AppError, isClientError } from '../core/errors.ts';
import { tryOrLog } from '../core/log.ts';
import { retryOnConflict } from '../core/retry.ts';
import { itemKey } from '../persistence/item-keys.ts';
import { type Write, write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { type AccountRecord, type AccountStore, enabled, findByEmail, type OneAccount } from './account-store.ts';
import { canonicalEmail } from './email-tokens.ts';
import { clearFailures, type PasswordCheck, startProof, startSignIn } from './lockout.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { type Client, revokeAllSessions, type SessionScope } from './sessions.ts';
import { randomSecret } from './single-use-secrets.ts';

/** Longer than a change of credentials and a sign-in in progress take together; requests last at most 29 s. */
const keptSeconds = 120;

const minVersionKey = (scope: SessionScope, userId: string) => itemKey(kinds.minCredentialVersion, scope, { userId });

/** Blocks all new sessions. */
export const blockingVersion: number = Number.MAX_SAFE_INTEGER;

/** Fails a sign-in that read the account before its credentials were changed or it was disabled. */
export const requireCredentialVersion = (scope: SessionScope, userId: string, version: number): Write => ({
  check: minVersionKey(scope, userId),
  condition: 'attribute_not_exists(pk) OR credentialVersion <= :version OR expiresAt <= :now',
  values: { version, now: nowSeconds() },
});

/** Rejects new sessions for older credentials. The caller must then end the existing sessions. */
export const raiseCredentialVersion = async (scope: SessionScope, userId: string, version: number): Promise<void> => {
  await write({
    update: minVersionKey(scope, userId),
    change: 'SET credentialVersion = :version, expiresAt = :end',
    condition: 'attribute_not_exists(pk) OR credentialVersion <= :version',
    values: { version, end: nowSeconds() + keptSeconds },
  });
};

/** 0 for imported and old accounts. */
export const credentialVersionOf = ({ credentialVersion = 0 }: Pick<AccountRecord, 'credentialVersion'>): number =>
  credentialVersion;

export const unchangedSince = (record: AccountRecord): OneAccount => {
  const version = credentialVersionOf(record);
  return { _id: record._id, credentialVersion: version === 0 ? { $in: [0, null] } : version };
};

export const ownPassword = ({ hashField }: AccountStore, passwordHash: string): Document => ({
  [hashField]: passwordHash,
  hasPassword: true,
});

/** Hash of a random password, for accounts without one. */
export const unknownPasswordHash = (): Promise<string> => hashPassword(randomSecret());

/** Ends all sessions except `except`, and blocks sign-ins in progress with older credentials. */
const endSessions = async (
  { scope }: AccountStore,
  accountId: string,
  version: number,
  except?: string,
): Promise<void> => {
  await raiseCredentialVersion(scope, accountId, version);
  await revokeAllSessions(scope, accountId, except);
};

/** An account with address and password is no longer anonymous, so it is not deleted when idle. */
export const unsetAnonymous = ({ email, hasPassword }: Pick<AccountRecord, 'email' | 'hasPassword'>): Document =>
  email !== undefined && hasPassword !== false ? { '_signIn.anonymous': '' } : {};

/** What ends together with the sessions. */
interface RevocationOptions {
  /** Session to keep. */
  readonly except?: string;
  /** Revoke personal access tokens; true by default. */
  readonly tokens?: boolean;
  /** Further fields and list items to remove. */
  readonly unset?: Document;
  readonly pull?: Document;
}

/**
 * Changes credentials if `filter` matches, in one command. Sessions and tokens end before it, so that none survives an
 * interruption; tokens also after it, because requests in progress could create more. Returns `undefined` if no account
 * matches.
 */
export const replaceCredentials = <R extends AccountRecord>(
  store: AccountStore<R>,
  filter: OneAccount,
  set: Document,
  { except, tokens = true, unset, pull }: RevocationOptions = {},
): Promise<R | undefined> =>
  retryOnConflict('This account is being changed right now. Retry.', async () => {
    const account = await store.find(filter);
    if (!account) return undefined;
    const version = credentialVersionOf(account) + 1;
    const revokeTokens = tokens ? store.revokeTokens : undefined;
    await endSessions(store, account._id.toHexString(), version, except);
    await revokeTokens?.(account._id);
    // Lets the unchanged credentials sign in again, although older versions are blocked.
    const admit = () => store.note(unchangedSince(account), { $set: { credentialVersion: version } });
    const updated = await store
      .change(
        // `null` matches a missing address; the driver drops `undefined`.
        { ...filter, ...unchangedSince(account), email: { $eq: account.email ?? null } },
        {
          $set: { ...set, credentialVersion: version },
          $unset: { ...unset, ...unsetAnonymous({ ...account, ...set }), '_signIn.newEmail': '' },
          ...(pull && { $pull: pull }),
        },
      )
      .catch(async (error: unknown) => {
        if (isClientError(error)) await admit();
        throw error;
      });
    if (!updated) {
      await admit();
      return null;
    }
    await revokeTokens?.(account._id);
    return updated;
  });

/** Everything an attacker may have left who opened the account first. */
export const otherSignInMethods: Document = {
  identities: '',
  '_signIn.anonymous': '',
  '_signIn.totp': '',
  '_signIn.totpPending': '',
  '_signIn.passkeys': '',
  '_signIn.devices': '',
};

/** Removes all credentials of an account with an unverified address; `undefined` if it was verified meanwhile. */
export const discardCredentials = async <R extends AccountRecord>(
  store: AccountStore<R>,
  accountId: ObjectId,
): Promise<R | undefined> => {
  const set = { [store.hashField]: await unknownPasswordHash(), hasPassword: false };
  return replaceCredentials(store, { _id: accountId, emailVerified: { $ne: true } }, set, {
    unset: otherSignInMethods,
  });
};

/** Gives an unverified account to the owner of its address; `null` if the account has changed. */
export const takeOver = async <R extends AccountRecord>(
  store: AccountStore<R>,
  { _id, email }: R,
  set: Document,
): Promise<R | null> => {
  if (!(await discardCredentials(store, _id))) return null;
  const expected = { _id, ...enabled, email: { $eq: email }, emailVerified: { $ne: true }, hasPassword: false };
  return (await store.change(expected, { $set: { ...set, emailVerified: true } })) ?? null;
};

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

const provePassword = async <R extends AccountRecord>(
  { hashField }: AccountStore<R>,
  password: string,
  attempt: PasswordCheck,
  find: () => Promise<R | undefined>,
): Promise<R | undefined> => {
  const compare = async () => {
    const account = await find();
    const matches = await verifyPassword(password, account?.[hashField]);
    return matches && !account?.isDisabled ? account : undefined;
  };
  const proved = await compare().catch(async (error: unknown) => {
    await attempt.cancel();
    throw error;
  });
  await (proved ? attempt.succeed() : attempt.fail());
  return proved;
};

/** Throws 429 `ACCOUNT_LOCKED` before the check. Unknown addresses take as long as wrong passwords. */
export const proveSignIn = async <R extends AccountRecord>(
  store: AccountStore<R>,
  { email, password }: Credentials,
  { ip }: Client,
): Promise<R | undefined> => {
  const attempt = await startSignIn({ scope: store.scope, address: canonicalEmail(email), ip });
  return provePassword(store, password, attempt, () => findByEmail(store, email));
};

/** True if the password is correct, also while sign-ins are locked; they are unlocked then. */
export const proveOwnPassword = async <R extends AccountRecord>(
  store: AccountStore<R>,
  account: R,
  password: string,
  { ip }: Client,
): Promise<boolean> => {
  const userId = account._id.toHexString();
  const attempt = await startProof(userId, { scope: store.scope, address: account.email ?? userId, ip });
  return (await provePassword(store, password, attempt, async () => account)) !== undefined;
};

/** Unlocks sign-ins after a new password, because earlier guesses no longer matter. */
export const endLockout = async ({ scope }: AccountStore, { email }: AccountRecord, { ip }: Client): Promise<void> => {
  if (email === undefined) return;
  const message = 'An address stays locked although its password was changed';
  await tryOrLog('error', { message }, () => clearFailures({ scope, address: email, ip }));
};

export const wrongPassword = (): AppError => new AppError('INVALID_CREDENTIALS', 'The current password is incorrect.');
