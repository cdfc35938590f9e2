import { hash, randomBytes } from 'node:crypto';
import { type IndexDescription, ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { dashboardSettings, serviceName, signupSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { onDuplicateKey } from '../../core/retry.ts';
import { viewOf } from '../../core/view.ts';
import { developerScope } from '../../persistence/item-keys.ts';
import { inControl } from '../../persistence/mongo.ts';
import { type PlanName, projectRecords } from '../../projects/project.ts';
import { type AccountRecord, type AccountStore, accountStore } from '../account-store.ts';
import type { Credentials } from '../credentials.ts';
import { canonicalEmail, checkEmail } from '../email-tokens.ts';
import type { Client } from '../sessions.ts';
import {
  type AddressedAccount,
  accountWithPassword,
  checkCredentials,
  type SignIn,
  type SigningStore,
  signUp,
} from '../sign-in.ts';
import { randomSecret } from '../single-use-secrets.ts';
import type { OpenMethods } from '../step-up.ts';
import { issueDashboardToken } from '../tokens.ts';
import type { Scope } from './scopes.ts';

export interface DeveloperRecord extends AccountRecord {
  readonly email: string;
  readonly passwordHash: string;
  readonly plan: PlanName;
  readonly emailVerified: boolean;
  /** When the account was deleted, or its removal failed last; it counts as gone from then on. */
  readonly deletingSince?: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const oneAccountEach = (name: string, key: string): IndexDescription => ({
  name,
  key: { [key]: 1 },
  unique: true,
  partialFilterExpression: { [key]: { $exists: true } },
});

/** Indexes of `control.developers`: one account an address, an identity and a passkey, whoever registers at once. */
export const developerIndexes: readonly IndexDescription[] = [
  { key: { email: 1 }, name: 'email', unique: true },
  oneAccountEach('identity', 'identities.key'),
  oneAccountEach('passkey', '_signIn.passkeys.id'),
  { key: { deletingSince: 1 }, name: 'deleting', sparse: true },
];

export const developerRecords = inControl<DeveloperRecord>('developers');
export const toDeveloper = (record: DeveloperRecord) => ({
  ...viewOf(record, ['_id', 'email', 'plan', 'emailVerified', 'createdAt']),
  secondFactor: record._signIn?.totp !== undefined,
});

/** A document of `control.personalTokens`; of the token only its SHA-256 is kept. `slot` holds the limit. */
export interface TokenRecord {
  readonly _id: ObjectId;
  readonly developerId: ObjectId;
  readonly slot: number;
  readonly name: string;
  readonly hash: string;
  readonly scopes: readonly Scope[];
  /** `null`: every project that the developer reaches. */
  readonly projectIds: readonly ObjectId[] | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Noted at most once an hour. */
  readonly lastUsedAt: Date | null;
}

/** Indexes of `control.personalTokens`; the last one has MongoDB remove what has expired, some time later. */
export const tokenIndexes: readonly IndexDescription[] = [
  { key: { hash: 1 }, name: 'hash', unique: true },
  { key: { developerId: 1, slot: 1 }, name: 'slot', unique: true },
  { key: { developerId: 1, _id: -1 }, name: 'developer' },
  { key: { expiresAt: 1 }, name: 'expiry', expireAfterSeconds: 0 },
];

export const tokenRecords = inControl<TokenRecord>('personalTokens');

const prefix = 'bslt_pat_';
const wellFormed = /^bslt_pat_[A-Za-z0-9_-]{43}$/;

/** A new personal access token: `bslt_pat_` and 256 random bits in base64url. */
export const newPersonalToken = (): string => prefix + randomSecret();

/** The form in which a token is stored and looked up: SHA-256, hexadecimal. */
export const hashToken = (token: string): string => hash('sha256', token, 'hex');

/** Whether a bearer token claims to be a personal access token. */
export const isPersonalToken = (token: string): boolean => token.startsWith(prefix);

/** A personal access token as its developer sees it; never the token, never its hash. */
export type TokenView = ReturnType<typeof toTokenView>;

export const toTokenView = (record: TokenRecord) =>
  viewOf(record, ['_id', 'name', 'scopes', 'projectIds', 'createdAt', 'expiresAt', 'lastUsedAt']);

/** Withdraws the open invitations of a developer, or of these those that were made with one token. */
const withdrawInvitations = async (invitedBy: ObjectId, tokenId?: ObjectId): Promise<void> => {
  const own = { invitedBy, ...(tokenId && { tokenId }) };
  await projectRecords.updateMany(
    { $or: [{ ownerId: invitedBy }, { 'members.developerId': invitedBy }], invitations: { $elemMatch: own } },
    { $pull: { invitations: own } },
  );
};

/**
 * Ends everything that a session or token of a developer can leave behind that gives access later. What is added to
 * this list ends with a password reset, a take-over, and a change of password that ends tokens (contract 6, "What ends
 * with a session or token").
 */
export const endLeftAccess = async (developerId: ObjectId): Promise<void> => {
  await tokenRecords.deleteMany({ developerId });
  await withdrawInvitations(developerId);
};

/** Revokes one token of a developer, and ends what it left behind; false if it is not theirs. */
export const endToken = async (developerId: ObjectId, tokenId: ObjectId): Promise<boolean> => {
  const { deletedCount } = await tokenRecords.deleteOne({ _id: tokenId, developerId });
  await withdrawInvitations(developerId, tokenId);
  return deletedCount > 0;
};

/** A token that was revoked while a request with it ran → 401 `TOKEN_INVALID`. */
export const requireToken = async ({ tokenId }: Pick<TokenGrant, 'tokenId'>): Promise<void> => {
  if (!(await tokenRecords.findOne({ _id: new ObjectId(tokenId) }))) throw invalid();
};

const notedEveryMs = 3_600_000;

const invalid = (): AppError =>
  new AppError('TOKEN_INVALID', 'The personal access token is wrong, revoked or expired. Create a new one.');

/** Notes the use unless that was done within the hour; the condition lets one of parallel callers write. */
const noteUse = async (_id: ObjectId, now: Date): Promise<void> => {
  const before = new Date(now.getTime() - notedEveryMs);
  await tokenRecords.updateOne(
    { _id, $or: [{ lastUsedAt: null }, { lastUsedAt: { $lte: before } }] },
    { $set: { lastUsedAt: now } },
  );
};

/** What a personal access token lets its developer do; `projectIds` are `null` for all that the developer reaches. */
export type TokenGrant = Awaited<ReturnType<typeof verifyPersonalToken>>;

/**
 * What a personal access token is good for, by one look-up of its hash that nothing remembers: a revoked one stops at
 * once. Unknown, revoked and expired → 401 `TOKEN_INVALID`.
 */
export const verifyPersonalToken = async (token: string) => {
  if (!wellFormed.test(token)) throw invalid();
  const now = new Date(clock.now());
  const record = await tokenRecords.findOne({ hash: hashToken(token) });
  if (!record || record.expiresAt <= now) throw invalid();
  const { lastUsedAt } = record;
  if (!lastUsedAt || lastUsedAt.getTime() <= now.getTime() - notedEveryMs) await noteUse(record._id, now);
  return {
    tokenId: record._id.toHexString(),
    developerId: record.developerId.toHexString(),
    scopes: record.scopes,
    projectIds: record.projectIds?.map((id) => id.toHexString()) ?? null,
  };
};

/**
 * Throws 403 `SCOPE_REQUIRED` if a personal access token lacks one of these scopes; `undefined`, which is a signed-in
 * developer, has all of them.
 */
export const requireScopes = (grant: Pick<TokenGrant, 'scopes'> | undefined, needed: readonly Scope[]): void => {
  const missing = grant && needed.filter((scope) => !grant.scopes.includes(scope));
  if (!missing?.length) return;
  const [noun, verb] = missing.length > 1 ? ['scopes', 'are'] : ['scope', 'is'];
  throw new AppError(
    'SCOPE_REQUIRED',
    `This personal access token lacks the ${noun} ${missing.join(', ')}, which ${verb} needed for this. Sign in to the dashboard, or create a token with more scopes.`,
  );
};

/** The developers: `control.developers`. One who has deleted their account is gone at once, and removed later. */
export const developerAccounts: AccountStore<DeveloperRecord> = accountStore<DeveloperRecord>(
  {
    scope: developerScope,
    hashField: 'passwordHash',
    mailOrigin: () => ({ project: null, siteName: serviceName, siteUrl: dashboardSettings().DASHBOARD_URL ?? null }),
    hasCheckedSession: true,
    revokeTokens: endLeftAccess,
  },
  { condition: { deletingSince: { $exists: false } }, has: ({ deletingSince }) => deletingSince === undefined },
  developerRecords,
);

/** With what they may sign in. */
export const developerSignInMethods = (): OpenMethods => ({
  password: true,
  emailCode: true,
  anonymous: false,
  passkey: true,
  secondFactor: 'optional',
  providers: dashboardSettings().DASHBOARD_GITHUB_CLIENT_ID ? ['github'] : [],
});

/** The same, signing tokens of the dashboard API. */
export const developerSignIns = (): SigningStore<DeveloperRecord> => ({
  ...developerAccounts,
  issueToken: (bearer) => issueDashboardToken(bearer),
});

/** Refuses a new account if the operator makes them all (`npm run add-developer`): 403 `SIGNUP_DISABLED`. */
export const requireOpenSignup = (): void => {
  if (signupSettings().DEVELOPER_SIGNUP === 'open') return;
  throw new AppError('SIGNUP_DISABLED', 'Sign-up is closed. Ask the operator of this service for an account.');
};

/** Stores a developer on the free plan. Taken address or identity → 409 `DEVELOPER_EXISTS`; of equal calls one wins. */
export const insertDeveloper = async (account: AddressedAccount): Promise<DeveloperRecord> => {
  const now = new Date(clock.now());
  const record: DeveloperRecord = {
    _id: newId(),
    ...account,
    credentialVersion: 0,
    plan: 'free',
    createdAt: now,
    updatedAt: now,
  };
  await onDuplicateKey(developerRecords.insertOne(record), (cause) => {
    const message = 'An account with this email address already exists. Sign in instead.';
    throw new AppError('DEVELOPER_EXISTS', message, { cause });
  });
  return record;
};

/**
 * Opens an account on the free plan and signs in. Registration closed → 403 `SIGNUP_DISABLED`; taken address → 409
 * `DEVELOPER_EXISTS`, with one winner of equal calls; address or password that cannot be → 400 `VALIDATION_FAILED`.
 */
export const signUpDeveloper = async (credentials: Credentials, client: Client): Promise<SignIn<DeveloperRecord>> => {
  requireOpenSignup();
  return signUp(developerSignIns(), checkCredentials(credentials), insertDeveloper, client);
};

/** 96 random bits, to be typed once. */
const newPassword = (): string => randomBytes(12).toString('base64url');

/**
 * Opens a developer's account with a password made here, also where registration is closed; the operator's own act, no
 * route does it. Taken address → `DEVELOPER_EXISTS`, one that cannot be → `VALIDATION_FAILED`.
 */
export const addDeveloper = async (address: string): Promise<Credentials> => {
  const credentials = { email: checkEmail(address), password: newPassword() };
  await insertDeveloper(await accountWithPassword(credentials));
  return credentials;
};

/** Puts a developer on a plan; the operator's own act, no route does it. Unknown address → `NOT_FOUND`. */
export const setPlan = async (email: string, plan: PlanName): Promise<void> => {
  const isSet = await developerAccounts.write({ email: { $eq: canonicalEmail(email) } }, { $set: { plan } });
  if (!isSet) throw new AppError('NOT_FOUND', 'No developer has this email address.');
};
