import { ObjectId } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { AppError } from '../../errors.ts';
import type { TokenRecord } from './token-record.ts';

/** Revokes one of a developer's personal access tokens, at once; one that is not theirs → 404 `TOKEN_NOT_FOUND`. */
export const revokeToken = async (developerId: string, tokenId: string): Promise<void> => {
  const removed =
    /^[0-9a-f]{24}$/.test(tokenId) &&
    (await onControl((db) =>
      db
        .collection<TokenRecord>('personalTokens')
        .deleteOne({ _id: new ObjectId(tokenId), developerId: new ObjectId(developerId) }),
    ));
  if (!removed || removed.deletedCount === 0) {
    throw new AppError('TOKEN_NOT_FOUND', 'Personal access token not found');
  }
};

/** Revokes all of a developer's personal access tokens. */
export const revokeAllTokens = async (developerId: ObjectId): Promise<void> => {
  await onControl((db) => db.collection<TokenRecord>('personalTokens').deleteMany({ developerId }));
};
