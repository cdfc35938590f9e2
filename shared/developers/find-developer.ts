import { ObjectId } from 'mongodb';
import { onControl } from '../clients/mongo.ts';
import { AppError } from '../errors.ts';
import { type Developer, type DeveloperRecord, toDeveloper } from './developer-record.ts';

/** The developer with this id, 24 hex characters; `undefined` where there is none. */
export const findDeveloper = async (developerId: string): Promise<Developer | undefined> => {
  if (!ObjectId.isValid(developerId)) return undefined;
  const record = await onControl((db) =>
    db.collection<DeveloperRecord>('developers').findOne({ _id: new ObjectId(developerId) }, { maxTimeMS: 5000 }),
  );
  return record ? toDeveloper(record) : undefined;
};

/** The developer a dashboard token names; 401 `TOKEN_INVALID` where the account is gone. */
export const getDeveloper = async (developerId: string): Promise<Developer> => {
  const developer = await findDeveloper(developerId);
  if (!developer) throw new AppError('TOKEN_INVALID', 'This account does not exist any more.');
  return developer;
};
