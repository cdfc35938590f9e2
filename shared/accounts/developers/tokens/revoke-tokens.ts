import { ObjectId } from 'mongodb';
import { AppError } from '../../../core/errors.ts';
import { onTokens } from './token-record.ts';

/** Revokes one of a developer's personal access tokens, at once; one that is not theirs → 404 `TOKEN_NOT_FOUND`. */
export const revokeToken = async (developerId: string, tokenId: string): Promise<void> => {
  const removed =
    /^[0-9a-f]{24}$/.test(tokenId) &&
    (await onTokens((tokens) =>
      tokens.deleteOne({ _id: new ObjectId(tokenId), developerId: new ObjectId(developerId) }),
    ));
  if (!removed || removed.deletedCount === 0) {
    throw new AppError('TOKEN_NOT_FOUND', 'Personal access token not found');
  }
};

/** Revokes all of a developer's personal access tokens. */
export const revokeAllTokens = async (developerId: ObjectId): Promise<void> => {
  await onTokens((tokens) => tokens.deleteMany({ developerId }));
};

/**
 * Revokes all of a developer's personal access tokens along with a change that ends sessions: before it, so that none
 * survives if it is interrupted, and after it, because the old sessions could create more until they ended.
 */
export const revokingTokens = async <T>(developerId: ObjectId, change: () => Promise<T>): Promise<T> => {
  await revokeAllTokens(developerId);
  const changed = await change();
  await revokeAllTokens(developerId);
  return changed;
};
