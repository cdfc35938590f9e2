import type { ObjectId } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/new-id.ts';
import type { Identity } from '../users/user-record.ts';
import type { DeveloperRecord } from './developer-record.ts';

/** The validated data of a new account. */
export interface NewDeveloper {
  /** Given where something refers to the developer before they are stored. */
  readonly _id?: ObjectId;
  /** Canonical. */
  readonly email: string;
  readonly passwordHash: string;
  readonly hasPassword: boolean;
  readonly emailVerified: boolean;
  readonly identities: readonly Identity[];
}

/**
 * Opens an account on the free plan. Taken address or identity → 409 `DEVELOPER_EXISTS`; of any number of equal calls
 * one wins.
 */
export const insertDeveloper = async (developer: NewDeveloper): Promise<DeveloperRecord> => {
  const now = new Date(clock.now());
  const record: DeveloperRecord = {
    _id: newId(),
    ...developer,
    credentialVersion: 0,
    plan: 'free',
    createdAt: now,
    updatedAt: now,
  };
  try {
    await onControl((db) => db.collection<DeveloperRecord>('developers').insertOne(record));
    return record;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'DUPLICATE_VALUE') throw error;
    throw new AppError('DEVELOPER_EXISTS', 'An account with this e-mail address exists already. Log in instead.', {
      cause: error,
    });
  }
};
