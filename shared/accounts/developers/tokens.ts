import { hash } from 'node:crypto';
import { type IndexDescription, ObjectId } from 'mongodb';
import { clock, dayMs } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { retryOnConflict } from '../../core/retry.ts';
import type { Page, PageRequest } from '../../core/values.ts';
import { idOf, viewOf } from '../../core/view.ts';
import { developerScope } from '../../persistence/item-keys.ts';
import { inControl } from '../../persistence/mongo.ts';
import { findPage } from '../../persistence/records.ts';
import { insertInSlot } from '../../projects/create-project.ts';
import { projectRecords } from '../../projects/project.ts';
import { type AccountStore, requireAccount } from '../account-store.ts';
import { requireSession } from '../sessions.ts';
import { randomSecret } from '../single-use-secrets.ts';
import type { Bearer } from '../tokens.ts';
import type { Scope } from './scopes.ts';

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

const tokenRecords = inControl<TokenRecord>('personalTokens');

const prefix = 'bslt_pat_';

const wellFormed = /^bslt_pat_[A-Za-z0-9_-]{43}$/;

/** A new personal access token: `bslt_pat_` and 256 random bits in base64url. */
export const newPersonalToken = (): string => prefix + randomSecret();

/** The form in which a token is stored and looked up: SHA-256, hexadecimal. */
const hashToken = (token: string): string => hash('sha256', token, 'hex');

/** Whether a bearer token claims to be a personal access token. */
export const isPersonalToken = (token: string): boolean => token.startsWith(prefix);

/** A personal access token as its developer sees it; never the token, never its hash. */
type TokenView = ReturnType<typeof toTokenView>;

const toTokenView = (record: TokenRecord) =>
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
const endToken = async (developerId: ObjectId, tokenId: ObjectId): Promise<boolean> => {
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

interface NewToken {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Ids of projects, 24 hex characters each; left out or `null` for all that the developer reaches. */
  readonly projectIds?: readonly string[] | null | undefined;
  /** 1 to 365. */
  readonly expiresInDays: number;
}

const maxTokens = 50;

/** Stores the record in a free slot, as what has expired gives its own back first; the unique index decides. */
const insert = (token: Omit<TokenRecord, 'slot'>): Promise<TokenRecord> =>
  retryOnConflict('Too many tokens are being made at once. Please try again.', async () => {
    const { developerId, createdAt } = token;
    await tokenRecords.deleteMany({ developerId, expiresAt: { $lte: createdAt } });
    const others = await tokenRecords.find({ developerId }, { projection: { slot: 1 } });
    const what = `You have ${maxTokens} personal access tokens. Revoke one to make another.`;
    return insertInSlot(tokenRecords, token, others, maxTokens, () => new AppError('LIMIT_REACHED', what));
  });

/** Deletes a token if the session ended while it was created: it would survive a password reset. */
const keepIfSignedIn = async (record: TokenRecord, { userId, sessionId }: Bearer): Promise<void> => {
  try {
    await requireSession(developerScope, userId, sessionId);
  } catch (error) {
    await tokenRecords.deleteOne({ _id: record._id });
    throw error;
  }
};

/**
 * Makes a personal access token; it is shown this once and kept as a hash only. A session that ends meanwhile → 401
 * `TOKEN_INVALID`; more than 50 → 403 `LIMIT_REACHED`, exact under any number of parallel calls.
 */
export const createToken = async (
  developers: AccountStore,
  bearer: Bearer,
  { name, scopes, projectIds, expiresInDays }: NewToken,
): Promise<TokenView & { readonly token: string }> => {
  const developerId = bearer.userId;
  await requireAccount(developers, developerId);
  const token = newPersonalToken();
  const now = clock.now();
  const record = await insert({
    _id: newId(),
    developerId: new ObjectId(developerId),
    name,
    hash: hashToken(token),
    scopes: [...new Set(scopes)],
    projectIds: projectIds ? [...new Set(projectIds)].map((id) => new ObjectId(id)) : null,
    createdAt: new Date(now),
    expiresAt: new Date(now + expiresInDays * dayMs),
    lastUsedAt: null,
  });
  await keepIfSignedIn(record, bearer);
  return { ...toTokenView(record), token };
};

/** A page of a developer's personal access tokens that have not expired, newest first. */
export const listTokens = (developerId: string, request: PageRequest): Promise<Page<TokenView>> => {
  const filter = { developerId: new ObjectId(developerId), expiresAt: { $gt: new Date(clock.now()) } };
  return findPage(tokenRecords, filter, request, { sort: { _id: -1 } }, toTokenView);
};

/** Revokes one of a developer's personal access tokens, at once; one that is not theirs → 404 `TOKEN_NOT_FOUND`. */
export const revokeToken = async (developerId: string, tokenId: string): Promise<void> => {
  const _id = idOf(tokenId);
  if (!_id || !(await endToken(new ObjectId(developerId), _id)))
    throw new AppError('TOKEN_NOT_FOUND', 'Personal access token not found');
};
