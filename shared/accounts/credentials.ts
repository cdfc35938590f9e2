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
import { forgetFailures, type PasswordCheck, startProof, startSignIn } from './lockout.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { type Client, revokeAllSessions, type SessionScope } from './sessions.ts';
import { randomSecret } from './single-use-secrets.ts';

/** Longer than a change of credentials and a sign-in that began before it take together; no request has over 29 s. */
const keptSeconds = 120;

const gateKey = (scope: SessionScope, userId: string) => itemKey(kinds.minCredentialVersion, scope, { userId });

/** Higher than any credential version: after it no session can be opened any more. */
export const noVersion: number = Number.MAX_SAFE_INTEGER;

/** Fails the transaction of a sign-in that read the user before a change of password, or their disabling. */
export const requireCredentialVersion = (scope: SessionScope, userId: string, version: number): Write => ({
  check: gateKey(scope, userId),
  condition: 'attribute_not_exists(pk) OR credentialVersion <= :version OR expiresAt <= :now',
  values: { version, now: nowSeconds() },
});

/** Rejects new sessions for credentials older than this version. The caller then ends the existing sessions. */
export const raiseCredentialVersion = async (scope: SessionScope, userId: string, version: number): Promise<void> => {
  await write({
    update: gateKey(scope, userId),
    change: 'SET credentialVersion = :version, expiresAt = :end',
    condition: 'attribute_not_exists(pk) OR credentialVersion <= :version',
    values: { version, end: nowSeconds() + keptSeconds },
  });
};

/** The version of an account's credentials; one that was imported, or made before they were counted, has the first. */
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

/** The hash of a password that nobody knows, for accounts that have none of their own. */
export const unknownPasswordHash = (): Promise<string> => hashPassword(randomSecret());

/** Ends every session of an account but `except`, and lets none begin that was under way with older credentials. */
const endSessions = async (
  { scope }: AccountStore,
  accountId: string,
  version: number,
  except?: string,
): Promise<void> => {
  await raiseCredentialVersion(scope, accountId, version);
  await revokeAllSessions(scope, accountId, except);
};

/** Who can sign in again is anonymous no longer: they may be asked to, and are not removed for being away. */
export const unsetAnonymous = ({ email, hasPassword }: Pick<AccountRecord, 'email' | 'hasPassword'>): Document =>
  email !== undefined && hasPassword !== false ? { '_signIn.anonymous': '' } : {};

/** What ends along with credentials; sessions always do. */
interface Ending {
  /** The session that goes on. */
  readonly except?: string;
  /** Whether personal access tokens end too; they do unless said. */
  readonly tokens?: boolean;
  /** What else is removed of the account: fields, and members of lists. */
  readonly unset?: Document;
  readonly pull?: Document;
}

/**
 * Changes what somebody signs in with, in one command that `filter` decides; an address that waits to be theirs does so
 * no longer. Their sessions but `except`, and tokens, end before it, so that none survives if it is interrupted; tokens
 * after it too, for requests under way could make more. Returns the account; `undefined`, and nothing is changed, if
 * none matches.
 */
export const replaceCredentials = <R extends AccountRecord>(
  store: AccountStore<R>,
  filter: OneAccount,
  set: Document,
  { except, tokens = true, unset, pull }: Ending = {},
): Promise<R | undefined> =>
  retryOnConflict('This account is being changed right now. Please try again.', async () => {
    const account = await store.find(filter);
    if (!account) return undefined;
    const version = credentialVersionOf(account) + 1;
    const revokeTokens = tokens ? store.revokeTokens : undefined;
    await endSessions(store, account._id.toHexString(), version, except);
    await revokeTokens?.(account._id);
    // What they have now signs in at once, although older versions are refused already.
    const admit = () => store.note(unchangedSince(account), { $set: { credentialVersion: version } });
    const updated = await store
      .change(
        // Of who has no address, `null` says so: the driver leaves `undefined` out.
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

/** What signs in besides a password, or was signed in from, which whoever opened the account may have left. */
export const otherSignInMethods: Document = {
  identities: '',
  '_signIn.anonymous': '',
  '_signIn.totp': '',
  '_signIn.totpPending': '',
  '_signIn.passkeys': '',
  '_signIn.devices': '',
};

/**
 * Replaces the password of an account whose address was never verified, and turns out to be someone else's, by an
 * unknown one; sessions and tokens end, and other ways to sign in. `undefined`, without any change, if it has been
 * verified meanwhile or is gone.
 */
export const discardCredentials = async <R extends AccountRecord>(
  store: AccountStore<R>,
  accountId: ObjectId,
): Promise<R | undefined> => {
  const set = { [store.hashField]: await unknownPasswordHash(), hasPassword: false };
  return replaceCredentials(store, { _id: accountId, emailVerified: { $ne: true } }, set, {
    unset: otherSignInMethods,
  });
};

/**
 * Lets who has proved an address into an account that nobody had verified: what somebody else may have opened it with
 * is discarded first, and only then does the address count as verified. `null` if it has changed since it was read.
 */
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

/**
 * The account with this address, if this is its password. Too many failures → 429 `ACCOUNT_LOCKED`, counted before the
 * password is looked at; no account takes as long as a wrong password, and a disabled one is like either.
 */
export const proveSignIn = async <R extends AccountRecord>(
  store: AccountStore<R>,
  { email, password }: Credentials,
  { ip }: Client,
): Promise<R | undefined> => {
  const attempt = await startSignIn({ scope: store.scope, address: canonicalEmail(email), ip });
  return provePassword(store, password, attempt, () => findByEmail(store, email));
};

/** True if a signed-in account has this password, also while its sign-ins are locked; then they are unlocked here. */
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

/** Unlocks sign-ins of an account from a place, and from anywhere: what was guessed there is no longer its password. */
export const endLockout = async ({ scope }: AccountStore, { email }: AccountRecord, { ip }: Client): Promise<void> => {
  if (email === undefined) return;
  const message = 'An address stays locked, though its password was set anew';
  await tryOrLog('error', { message }, () => forgetFailures({ scope, address: email, ip }));
};

export const wrongPassword = (): AppError => new AppError('INVALID_CREDENTIALS', 'The current password is incorrect.');
