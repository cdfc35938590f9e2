import type { Filter } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import type { DeveloperRecord } from './developer-record.ts';

/** Marks the e-mail address of the developer who matches as verified; false where there is none. */
export const markVerified = async (developer: Filter<DeveloperRecord>): Promise<boolean> => {
  const verified = { $set: { emailVerified: true, updatedAt: new Date(clock.now()) } };
  const { matchedCount } = await onControl((db) =>
    db.collection<DeveloperRecord>('developers').updateOne(developer, verified),
  );
  return matchedCount > 0;
};
