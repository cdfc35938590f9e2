import { hash } from 'node:crypto';
import { type IndexDescription, ObjectId } from 'mongodb';
import { clock, dayMs } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { retryOnConflict } from '../../core/retry.ts';
import type { Page, PageRequest } from '../../core/values.ts';
import { idOf, viewOf } from '../../core/values.ts';
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

/** A document of `control.personalTokens`. `slot` is unique per developer and enforces the limit. */
export interface TokenRecord {
  readonly _id: ObjectId;
  readonly developerId: ObjectId;
  readonly slot: number;
  readonly name: string;
  readonly hash: string;
  readonly scopes: readonly Scope[];
  /** `null` for all projects of the developer. */
  readonly projectIds: readonly ObjectId[] | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Updated at most once an hour. */
  readonly lastUsedAt: Date | null;
}

/** MongoDB removes expired tokens some time later. */
export const tokenIndexes: readonly IndexDescription[] = [
  { key: { hash: 1 }, name: 'hash', unique: true },
  { key: { developerId: 1, slot: 1 }, name: 'slot', unique: true },
  { key: { developerId: 1, _id: -1 }, name: 'developer' },
  { key: { expiresAt: 1 }, name: 'expiry', expireAfterSeconds: 0 },
];

const tokenRecords = inControl<TokenRecord>('personalTokens');

const prefix = 'bslt_pat_';

const wellFormed = /^bslt_pat_[A-Za-z0-9_-]{43}$/;

/** `bslt_pat_` and 256 random bits in base64url. */
const newPersonalToken = (): string => prefix + randomSecret();

const hashToken = (token: string): string => hash('sha256', token, 'hex');

export const isPersonalToken = (token: string): boolean => token.startsWith(prefix);

type TokenView = ReturnType<typeof toTokenView>;

const toTokenView = (record: TokenRecord) =>
  viewOf(record, ['_id', 'name', 'scopes', 'projectIds', 'createdAt', 'expiresAt', 'lastUsedAt']);

/** Withdraws a developer's open invitations, with `tokenId` only those made with this token. */
const withdrawInvitations = async (invitedBy: ObjectId, tokenId?: ObjectId): Promise<void> => {
  const own = { invitedBy, ...(tokenId && { tokenId }) };
  await projectRecords.updateMany(
    { $or: [{ ownerId: invitedBy }, { 'members.developerId': invitedBy }], invitations: { $elemMatch: own } },
    { $pull: { invitations: own } },
  );
};

/** Runs at password resets, takeovers, and changes of password that end tokens. */
export const endLeftAccess = async (developerId: ObjectId): Promise<void> => {
  await tokenRecords.deleteMany({ developerId });
  await withdrawInvitations(developerId);
};

/** Revokes a token and withdraws its invitations; false if it is not the developer's. */
const endToken = async (developerId: ObjectId, tokenId: ObjectId): Promise<boolean> => {
  const { deletedCount } = await tokenRecords.deleteOne({ _id: tokenId, developerId });
  await withdrawInvitations(developerId, tokenId);
  return deletedCount > 0;
};

/** Throws 401 `TOKEN_INVALID` if the token was revoked during the request. */
export const requireToken = async ({ tokenId }: Pick<TokenGrant, 'tokenId'>): Promise<void> => {
  if (!(await tokenRecords.findOne({ _id: new ObjectId(tokenId) }))) throw invalid();
};

const notedEveryMs = 3_600_000;

const invalid = (): AppError =>
  new AppError('TOKEN_INVALID', 'The personal access token is wrong, revoked or expired. Create a new one.');

/** The condition lets one concurrent caller write. */
const noteUse = async (_id: ObjectId, now: Date): Promise<void> => {
  const before = new Date(now.getTime() - notedEveryMs);
  await tokenRecords.updateOne(
    { _id, $or: [{ lastUsedAt: null }, { lastUsedAt: { $lte: before } }] },
    { $set: { lastUsedAt: now } },
  );
};

/** `projectIds` is `null` for all projects of the developer. */
export type TokenGrant = Awaited<ReturnType<typeof verifyPersonalToken>>;

/** One uncached read, so that revocation takes effect immediately. Throws 401 `TOKEN_INVALID`. */
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

/** Throws 403 `SCOPE_REQUIRED` if a scope is missing; `undefined` (a signed-in developer) has all. */
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
  /** Omitted or `null` for all projects of the developer. */
  readonly projectIds?: readonly string[] | null | undefined;
  /** 1 to 365. */
  readonly expiresInDays: number;
}

const maxTokens = 50;

/** Removes expired tokens, then takes a free slot; the unique index decides. */
const insert = (token: Omit<TokenRecord, 'slot'>): Promise<TokenRecord> =>
  retryOnConflict('Too many tokens are being created at the same time. Retry.', async () => {
    const { developerId, createdAt } = token;
    await tokenRecords.deleteMany({ developerId, expiresAt: { $lte: createdAt } });
    const others = await tokenRecords.find({ developerId }, { projection: { slot: 1 } });
    const what = `You have ${maxTokens} personal access tokens. Revoke one to create another.`;
    return insertInSlot(tokenRecords, token, others, maxTokens, () => new AppError('LIMIT_REACHED', what));
  });

/** Deletes the token if the session ended meanwhile: it would survive a password reset. */
const keepIfSignedIn = async (record: TokenRecord, { userId, sessionId }: Bearer): Promise<void> => {
  try {
    await requireSession(developerScope, userId, sessionId);
  } catch (error) {
    await tokenRecords.deleteOne({ _id: record._id });
    throw error;
  }
};

/** Errors: 401 `TOKEN_INVALID` if the session ends meanwhile, 403 `LIMIT_REACHED` over 50 (exact under concurrency). */
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

export const listTokens = (developerId: string, request: PageRequest): Promise<Page<TokenView>> => {
  const filter = { developerId: new ObjectId(developerId), expiresAt: { $gt: new Date(clock.now()) } };
  return findPage(tokenRecords, filter, request, { sort: { _id: -1 } }, toTokenView);
};

/** Throws 404 `TOKEN_NOT_FOUND`. */
export const revokeToken = async (developerId: string, tokenId: string): Promise<void> => {
  const _id = idOf(tokenId);
  if (!_id || !(await endToken(new ObjectId(developerId), _id)))
    throw new AppError('TOKEN_NOT_FOUND', 'Personal access token not found');
};
