import { ObjectId } from 'mongodb';
import { clock, dayMs } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { retryOnConflict } from '../../core/retry.ts';
import type { Page, PageRequest } from '../../core/values.ts';
import { idOf } from '../../core/view.ts';
import { developerScope } from '../../persistence/item-keys.ts';
import { findPage } from '../../persistence/records.ts';
import { insertInSlot } from '../../projects/create-project.ts';
import { requireAccount } from '../account-store.ts';
import { requireSession } from '../sessions.ts';
import type { Bearer } from '../tokens.ts';
import {
  developerAccounts,
  endToken,
  hashToken,
  newPersonalToken,
  type TokenRecord,
  type TokenView,
  tokenRecords,
  toTokenView,
} from './developers.ts';
import type { Scope } from './scopes.ts';

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
  bearer: Bearer,
  { name, scopes, projectIds, expiresInDays }: NewToken,
): Promise<TokenView & { readonly token: string }> => {
  const developerId = bearer.userId;
  await requireAccount(developerAccounts, developerId);
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
