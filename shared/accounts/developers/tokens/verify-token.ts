import type { ObjectId } from 'mongodb';
import { clock } from '../../../core/clock.ts';
import { AppError } from '../../../core/errors.ts';
import type { Scope } from './scopes.ts';
import { hashToken, isWellFormedToken, onTokens } from './token-record.ts';

/** What a personal access token lets its developer do. Ids are 24 hex characters. */
export interface TokenGrant {
  readonly tokenId: string;
  readonly developerId: string;
  readonly scopes: readonly Scope[];
  /** `null`: every project that the developer reaches. */
  readonly projectIds: readonly string[] | null;
}

const notedEveryMs = 3_600_000;

const invalid = (): AppError =>
  new AppError('TOKEN_INVALID', 'The personal access token is wrong, was revoked or has expired. Make a new one.');

/**
 * Notes the use, unless that has been done within the hour; the condition lets one of any number of parallel callers
 * write.
 */
const noteUse = async (_id: ObjectId, now: Date): Promise<void> => {
  const before = new Date(now.getTime() - notedEveryMs);
  await onTokens((tokens) =>
    tokens.updateOne(
      { _id, $or: [{ lastUsedAt: null }, { lastUsedAt: { $lte: before } }] },
      { $set: { lastUsedAt: now } },
    ),
  );
};

/**
 * What a personal access token is good for, by one look-up of its hash that nothing remembers: a revoked one stops at
 * once. Unknown, revoked and expired → 401 `TOKEN_INVALID`.
 */
export const verifyPersonalToken = async (token: string): Promise<TokenGrant> => {
  if (!isWellFormedToken(token)) throw invalid();
  const now = new Date(clock.now());
  const record = await onTokens((tokens) => tokens.findOne({ hash: hashToken(token) }, { maxTimeMS: 5000 }));
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
