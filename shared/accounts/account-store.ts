import { type Document, type Filter, MongoServerError, type ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { idOf } from '../core/view.ts';
import type { Records } from '../persistence/records.ts';
import type { OpenIdName } from '../projects/social/provider-rules.ts';
import type { SocialProviderName } from '../projects/social/providers.ts';
import type { AccountMailSender } from './account-mail.ts';
import { canonicalEmail } from './email-tokens.ts';
import type { Passkey } from './passkeys/passkey.ts';
import type { SessionScope } from './sessions.ts';

/**
 * An account at an identity provider that belongs to somebody; `key` is `github:123`, or of an
 * issuer `oidc:<issuer>#<subject>`, unique in its store.
 */
export interface Identity {
  readonly provider: SocialProviderName | OpenIdName;
  readonly id: string;
  readonly key: string;
}

/** What signing in keeps beside; a schema of users may not name the field that holds it. */
export interface SignInState {
  /** Made without the fields that the schema of users requires, which the first change of the profile has to bring. */
  readonly profileDue?: true;
  /** The secret of an authenticator app, the last step that was accepted, and hashes of recovery codes. */
  readonly totp?: { readonly sealed: string; readonly lastStep: number; readonly recovery: readonly string[] };
  /** A secret that is not confirmed yet. */
  readonly totpPending?: string;
  readonly passkeys?: readonly Passkey[];
  /** What it was signed in to from, the newest last; missing until the first sign-in since they are kept. */
  readonly devices?: readonly string[];
  /** The address that is the account's once it is confirmed; a change of credentials takes it away. */
  readonly newEmail?: string;
  /** Of an anonymous user: when to look whether they are still signed in; `idle` once that was found not to be so. */
  readonly anonymous?: { readonly checkAt: Date; readonly idle?: true };
}

/**
 * What signing in needs to know of a user or developer. One of the two hashes is there, of no password at all while
 * `hasPassword` is false; `credentialVersion` counts what ends sessions. An imported user may lack all but `_id`.
 */
export interface AccountRecord {
  readonly _id: ObjectId;
  /** Canonical: trimmed, lower case; some have none. */
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

/** One account, and what else must hold of it. */
export type OneAccount = AccountFilter & { readonly _id: ObjectId };

/** In whose name mails to accounts go out, and where their links lead. */
export interface MailOrigin {
  /** `null` for the service itself. */
  readonly project: AccountMailSender | null;
  /** May be empty. */
  readonly siteName: string;
  readonly siteUrl: string | null;
  /** Whether the project's own provider key sends it; not unless said. */
  readonly usingByok?: boolean;
}

/** What one set of accounts differs in from another: the users of one project, or the developers. */
interface Kind {
  /** Whose sessions, tokens and lockouts they are. */
  readonly scope: SessionScope;
  readonly hashField: 'password' | 'passwordHash';
  readonly mailOrigin: () => MailOrigin;
  /** True where whoever calls has asked whether the session of the access token still stands. */
  readonly hasCheckedSession: boolean;
  /** What each write to an account adds to, where there is something that counts them. */
  readonly counts?: Readonly<Record<string, 1>>;
  /** Ends what lets in beside sessions, where there is such a thing. */
  readonly revokeTokens?: (accountId: ObjectId) => Promise<void>;
}

/** Accounts that sign in by the same rules; each function is one command, and knows nothing of deleted accounts. */
export interface AccountStore<R extends AccountRecord = AccountRecord> extends Kind {
  readonly find: (filter: AccountFilter) => Promise<R | undefined>;
  /** Changes the one that matches, `updatedAt` with it; returns it as it is then. */
  readonly change: (filter: AccountFilter, change: Document) => Promise<R | undefined>;
  /** The same without its return; false if none matches. */
  readonly write: (filter: AccountFilter, change: Document) => Promise<boolean>;
  /** The same of what a sign-in leaves behind: neither dated nor counted, and no webhook is told. */
  readonly note: (filter: AccountFilter, change: Document) => Promise<boolean>;
}

/** MongoDB's code where it cannot add to what is no number. */
const typeMismatch = 14;

/** Which accounts have not been deleted: the condition that matches them, and the same of one that was found. */
interface Presence<R> {
  readonly condition: AccountFilter;
  readonly has: (account: R) => boolean;
}

/**
 * The accounts of a collection. By `_id` alone one is found on the database's fastest path, and the rest decided here.
 */
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
  /** What another program stored where we count is no number now and then: it counts as 0. */
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
  /** Given if something refers to the account before it is stored. */
  readonly _id?: ObjectId;
  /** Canonical. */
  readonly email?: string;
  /** Left out where there is none. */
  readonly passwordHash?: string;
  readonly hasPassword: boolean;
  readonly emailVerified: boolean;
  readonly identities: readonly Identity[];
  readonly _signIn?: SignInState;
}

export const enabled: AccountFilter = { isDisabled: { $ne: true } };

/** The account with an e-mail address, in whatever case it is written. */
export const findByEmail = <R extends AccountRecord>(store: AccountStore<R>, email: string): Promise<R | undefined> =>
  store.find({ email: { $eq: canonicalEmail(email) } });

/** The account with an id; `undefined` for a malformed one too. */
export const findById = async <R extends AccountRecord>(store: AccountStore<R>, id: string): Promise<R | undefined> => {
  const _id = idOf(id);
  return _id && store.find({ _id });
};

/** The refusal of an access token whose account is gone or disabled (401). */
export const accountGone = (): AppError =>
  new AppError('TOKEN_INVALID', 'The account of this access token was deleted or disabled.');

/** The account an access token speaks for; gone or disabled → 401 `TOKEN_INVALID`. */
export const requireAccount = async <R extends AccountRecord>(store: AccountStore<R>, id: string): Promise<R> => {
  const account = await findById(store, id);
  if (!account || account.isDisabled) throw accountGone();
  return account;
};
