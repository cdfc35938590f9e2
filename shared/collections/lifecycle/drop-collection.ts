import { type Db, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { hasCode, isUnavailable } from '../../clients/mongo-failure.ts';
import { AppError } from '../../core/errors.ts';
import { isAlreadyGone } from '../indexes/sync-indexes.ts';

const timeLimitExceeded = 50;

/**
 * Drops a MongoDB collection, where there is one. The server gives up after `withinMs`, so that nothing is dropped
 * after its caller's time: that might be a new collection of the same name. Not done by then → 503
 * `DATABASE_UNAVAILABLE`.
 */
export const dropCollection = async (db: Db, name: string, withinMs: number): Promise<void> => {
  try {
    await db.dropCollection(name, { maxTimeMS: withinMs });
  } catch (error) {
    if (isAlreadyGone(error)) return;
    if (!hasCode(error, timeLimitExceeded)) throw error;
    throw new AppError('DATABASE_UNAVAILABLE', 'The database is too busy to drop the collection. Please try again.', {
      cause: error,
      retryAfter: 5,
    });
  }
};

/** True for a failure without any reply: the database may still be executing the command. */
export const mayGoOn = (error: unknown): boolean =>
  isUnavailable(error) &&
  !(error.cause instanceof MongoServerError || error.cause instanceof MongoServerSelectionError);
