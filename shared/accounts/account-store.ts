import { type Document, type Filter, MongoServerError, type ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { idOf } from '../core/values.ts';
import type { Records } from '../persistence/records.ts';
import type { OpenIdName } from '../projects/social/provider-rules.ts';
import type { SocialProviderName } from '../projects/social/providers.ts';
import type { AccountMailSender } from './account-mail.ts';
import { canonicalEmail } from './email-tokens.ts';
import type { Passkey } from './passkeys/passkey.ts';
import type { SessionScope } from './sessions.ts';

/** An account at an identity provider; `key` is `github:123` or `oidc:<issuer>#<subject>`, unique in its store. */
export interface Identity {
  readonly provider: SocialProviderName | OpenIdName;
  readonly id: string;
  readonly key: string;
}

/** Sign-in data of an account. A `users` schema cannot define this field. */
export interface SignInState {
  /** The account lacks required fields; the first change of the profile must bring them. */
  readonly profileDue?: true;
  /** Sealed secret of the authenticator app, its last accepted step, and hashes of recovery codes. */
  readonly totp?: { readonly sealed: string; readonly lastStep: number; readonly recovery: readonly string[] };
  /** Sealed secret that is not confirmed yet. */
  readonly totpPending?: string;
  readonly passkeys?: readonly Passkey[];
  /** Latest last; missing for accounts that have not signed in since devices are stored. */
  readonly devices?: readonly string[];
  /** Address that becomes the account's once confirmed; changes of credentials remove it. */
  readonly newEmail?: string;
  /** Of an anonymous user: when to check for sessions; `idle` after a check found none. */
  readonly anonymous?: { readonly checkAt: Date; readonly idle?: true };
}

/**
 * A user or developer. One of the two hashes exists; with `hasPassword: false` nobody knows its password.
 * `credentialVersion` counts changes that end sessions. Imported users may have only `_id`.
 */
export interface AccountRecord {
  readonly _id: ObjectId;
  /** Trimmed and in lower case. */
  readonly email?: string;
  readonly password?: string;
  readonly passwordHash?: string;
  readonly hasPassword?: boolean;
  readonly emailVerified?: boolean;
  readonly isDisabled?: true;
  readonly identities?: readonly Identity[];
  readonly credentialVersion?: number;
  readonly _signIn?: SignInState;
  readonly createdAt?: Date;
  readonly updatedAt?: Date;
}

export type AccountFilter = Readonly<Record<string, unknown>>;

/** One account, and further conditions. */
export type OneAccount = AccountFilter & { readonly _id: ObjectId };

/** Sender of account emails, and the site of their links. */
export interface MailOrigin {
  /** `null` for the service. */
  readonly project: AccountMailSender | null;
  /** May be empty. */
  readonly siteName: string;
  readonly siteUrl: string | null;
  /** Sent with the project's own provider key; false by default. */
  readonly usingByok?: boolean;
}

/** Differences between the users of a project and the developers. */
interface Kind {
  readonly scope: SessionScope;
  readonly hashField: 'password' | 'passwordHash';
  readonly mailOrigin: () => MailOrigin;
  /** The middleware has already checked the session of the access token. */
  readonly hasCheckedSession: boolean;
  /** Counters that each write increments. */
  readonly counts?: Readonly<Record<string, 1>>;
  /** Revokes personal access tokens. */
  readonly revokeTokens?: (accountId: ObjectId) => Promise<void>;
}

/** Each function is one database command. Deleted accounts are invisible. */
export interface AccountStore<R extends AccountRecord = AccountRecord> extends Kind {
  readonly find: (filter: AccountFilter) => Promise<R | undefined>;
  /** Updates one account and its `updatedAt`. Returns the updated account. */
  readonly change: (filter: AccountFilter, change: Document) => Promise<R | undefined>;
  /** Like `change`, but only returns whether an account matched. */
  readonly write: (filter: AccountFilter, change: Document) => Promise<boolean>;
  /** Like `write`, for traces of sign-ins: no `updatedAt`, no counters, no webhooks. */
  readonly note: (filter: AccountFilter, change: Document) => Promise<boolean>;
}

/** MongoDB: cannot increment a value that is no number. */
const typeMismatch = 14;

/** Matches accounts that are not deleted, as a filter and for a record. */
interface Presence<R> {
  readonly condition: AccountFilter;
  readonly has: (account: R) => boolean;
}

/** A filter of `_id` alone takes the database's fastest path; `present` is then checked here. */
export const accountStore = <R extends AccountRecord>(
  kind: Kind,
  present: Presence<R>,
  records: Records<R>,
): AccountStore<R> => {
  const among = (filter: AccountFilter) => ({ ...filter, ...present.condition }) as Filter<R>;
  const dated = (change: Document) => ({
    ...change,
    ...(kind.counts && { $inc: { ...change.$inc, ...kind.counts } }),
    $set: { ...change.$set, updatedAt: new Date(clock.now()) },
  });
  /** Other programs may have stored something else in a counter: it restarts at 0. */
  const counted = async <T>(filter: AccountFilter, write: () => Promise<T>): Promise<T> => {
    try {
      return await write();
    } catch (error) {
      const [count] = Object.keys(kind.counts ?? {});
      if (count === undefined || !(error instanceof MongoServerError) || error.code !== typeMismatch) throw error;
      const strange = { ...among(filter), $expr: { $not: [{ $isNumber: `$${count}` }] } } as Filter<R>;
      const anew: Document = { $unset: { [count]: '' } };
      await records.updateOne(strange, anew);
      return write();
    }
  };
  const options = { returnDocument: 'after', maxTimeMS: 5000 } as const;
  const orNone = (found: unknown) => (found ?? undefined) as R | undefined;
  return {
    ...kind,
    find: async (filter) => {
      const byId = '_id' in filter && Object.keys(filter).length === 1;
      const found = orNone(await records.findOne(byId ? (filter as Filter<R>) : among(filter)));
      return found && present.has(found) ? found : undefined;
    },
    change: async (filter, change) =>
      orNone(await counted(filter, () => records.findOneAndUpdate(among(filter), dated(change), options))),
    write: async (filter, change) =>
      (await counted(filter, () => records.updateOne(among(filter), dated(change)))).matchedCount > 0,
    note: async (filter, change) => (await records.updateOne(among(filter), change)).matchedCount > 0,
  };
};

export interface NewAccount {
  /** Set if something refers to the account before it is stored. */
  readonly _id?: ObjectId;
  /** Trimmed and in lower case. */
  readonly email?: string;
  readonly passwordHash?: string;
  readonly hasPassword: boolean;
  readonly emailVerified: boolean;
  readonly identities: readonly Identity[];
  readonly _signIn?: SignInState;
}

export const enabled: AccountFilter = { isDisabled: { $ne: true } };

/** Case-insensitive. */
export const findByEmail = <R extends AccountRecord>(store: AccountStore<R>, email: string): Promise<R | undefined> =>
  store.find({ email: { $eq: canonicalEmail(email) } });

/** `undefined` also for malformed ids. */
export const findById = async <R extends AccountRecord>(store: AccountStore<R>, id: string): Promise<R | undefined> => {
  const _id = idOf(id);
  return _id && store.find({ _id });
};

export const accountUnavailable = (): AppError =>
  new AppError('TOKEN_INVALID', 'The account of this access token was deleted or disabled.');

/** Throws 401 `TOKEN_INVALID` if the account is deleted or disabled. */
export const requireAccount = async <R extends AccountRecord>(store: AccountStore<R>, id: string): Promise<R> => {
  const account = await findById(store, id);
  if (!account || account.isDisabled) throw accountUnavailable();
  return account;
};
