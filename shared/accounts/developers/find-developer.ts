import { type Filter, ObjectId } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { AppError } from '../../core/errors.ts';
import { type Developer, type DeveloperRecord, toDeveloper } from './developer-record.ts';

/** The first developer who matches and has not deleted their account. */
export const findDeveloperRecord = async (filter: Filter<DeveloperRecord>): Promise<DeveloperRecord | undefined> =>
  (await onControl((db) =>
    db
      .collection<DeveloperRecord>('developers')
      .findOne({ ...filter, deletingSince: { $exists: false } } as Filter<DeveloperRecord>, { maxTimeMS: 5000 }),
  )) ?? undefined;

/** The developer with this id, 24 hex characters; `undefined` where there is none. */
export const findDeveloper = async (developerId: string): Promise<Developer | undefined> => {
  if (!ObjectId.isValid(developerId)) return undefined;
  const record = await findDeveloperRecord({ _id: new ObjectId(developerId) });
  return record && toDeveloper(record);
};

const gone = (): AppError => new AppError('TOKEN_INVALID', 'This account does not exist any more.');

/** The developer a dashboard token names; 401 `TOKEN_INVALID` where the account is gone. */
export const getDeveloper = async (developerId: string): Promise<Developer> => {
  const developer = await findDeveloper(developerId);
  if (!developer) throw gone();
  return developer;
};

/** The same as their whole record. */
export const getDeveloperRecord = async (developerId: string): Promise<DeveloperRecord> => {
  const record = await findDeveloperRecord({ _id: new ObjectId(developerId) });
  if (!record) throw gone();
  return record;
};
