import type { ObjectId } from 'mongodb';
import { onControl } from '../clients/mongo.ts';

/** The addresses of developers as they are now, by their ids of 24 hex characters; none of accounts that are gone. */
export const emailsOf = async (developerIds: readonly ObjectId[]): Promise<ReadonlyMap<string, string>> => {
  const people = await onControl((db) =>
    db
      .collection<{ readonly _id: ObjectId; readonly email: string }>('developers')
      .find({ _id: { $in: [...developerIds] } }, { projection: { email: 1 }, maxTimeMS: 5000 })
      .toArray(),
  );
  return new Map(people.map(({ _id, email }) => [_id.toHexString(), email]));
};
