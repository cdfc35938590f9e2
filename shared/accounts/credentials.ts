import { randomBytes } from 'node:crypto';
import type { Document, ObjectId } from 'mongodb';
import type { AccountRecord, AccountStore, OneAccount } from './account-store.ts';
import { raiseCredentialVersion } from './credential-version.ts';
import { hashPassword } from './passwords.ts';
import { revokeAllSessions } from './revoke-sessions.ts';

/** The version of an account's credentials; one that was imported, or made before they were counted, has the first. */
export const credentialVersionOf = ({ credentialVersion = 0 }: Pick<AccountRecord, 'credentialVersion'>): number =>
  credentialVersion;

/** Matches an account whose credentials are still those of `record`. */
export const unchangedSince = (record: AccountRecord): OneAccount => {
  const version = credentialVersionOf(record);
  return { _id: record._id, credentialVersion: version === 0 ? { $in: [0, null] } : version };
};

/** The fields of an account that has a password of its own from now on. */
export const ownPassword = ({ hashField }: AccountStore, passwordHash: string): Document => ({
  [hashField]: passwordHash,
  hasPassword: true,
});

/** The hash of a password that nobody knows, for accounts that have none of their own. */
export const unknownPasswordHash = (): Promise<string> => hashPassword(randomBytes(32).toString('base64url'));

/** Ends every session of an account but `except`, and lets none begin that was under way with older credentials. */
export const endSessions = async (
  { scope }: AccountStore,
  accountId: string,
  version: number,
  except?: string,
): Promise<void> => {
  await raiseCredentialVersion(scope, accountId, version);
  await revokeAllSessions(scope, accountId, except === undefined ? {} : { except });
};

/** What ends along with credentials; sessions always do. */
export interface Ending {
  /** The session that goes on. */
  readonly except?: string;
  /** Whether personal access tokens end too; they do unless said. */
  readonly tokens?: boolean;
}

/**
 * Changes what somebody signs in with, in one command that `filter` decides, and then ends their sessions but `except`.
 * Tokens are revoked before it, so that none survives if it is interrupted, and after it, because the old sessions
 * could make more until they ended. Returns the account; `undefined`, and nothing is changed, if none matches.
 */
export const replaceCredentials = async <R extends AccountRecord>(
  store: AccountStore<R>,
  filter: OneAccount,
  set: Document,
  { except, tokens = true }: Ending = {},
): Promise<R | undefined> => {
  const revokeTokens = tokens ? store.revokeTokens : undefined;
  await revokeTokens?.(filter._id);
  const updated = await store.change(filter, { $set: set, $inc: { credentialVersion: 1 } });
  if (updated) await endSessions(store, updated._id.toHexString(), credentialVersionOf(updated), except);
  await revokeTokens?.(filter._id);
  return updated;
};

/**
 * Removes the credentials of an account whose address was never verified and turns out to belong to someone else: its
 * password is replaced by an unknown one, and sessions and tokens end. Returns the account; `undefined`, without any
 * change, if the address has been verified meanwhile or the account is gone.
 */
export const discardCredentials = async <R extends AccountRecord>(
  store: AccountStore<R>,
  accountId: ObjectId,
): Promise<R | undefined> => {
  const set = { [store.hashField]: await unknownPasswordHash(), hasPassword: false };
  return replaceCredentials(store, { _id: accountId, emailVerified: { $ne: true } }, set);
};
