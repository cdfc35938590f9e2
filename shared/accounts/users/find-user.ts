import { type Filter, ObjectId } from 'mongodb';
import { onManaged } from '../../clients/mongo.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import type { Project } from '../../projects/project.ts';
import type { SocialProviderName } from '../../projects/social-providers.ts';
import { canonicalEmail } from '../email.ts';
import type { UserRecord } from './user-record.ts';

const findUser = async (project: Project, filter: Filter<UserRecord>): Promise<UserRecord | undefined> => {
  const record = await onManaged(project, (db) =>
    db
      .collection<UserRecord>(usersCollection)
      .findOne({ ...filter, isDeleted: { $ne: true } } as Filter<UserRecord>, { maxTimeMS: 5000 }),
  );
  return record ?? undefined;
};

/** The user with an e-mail address, in whatever case it is written; one `find`. */
export const findUserByEmail = (project: Project, email: string): Promise<UserRecord | undefined> =>
  findUser(project, { email: { $eq: canonicalEmail(email) } });

/** The user with an id; `undefined` for a malformed one too; one `find`. */
export const findUserById = async (project: Project, id: string): Promise<UserRecord | undefined> =>
  /^[0-9a-f]{24}$/i.test(id) ? findUser(project, { _id: ObjectId.createFromHexString(id) }) : undefined;

/** The unique name of an account at an identity provider: `github:123`. */
export const identityKey = (provider: SocialProviderName, id: string): string => `${provider}:${id}`;

/** The user to whom an account at an identity provider belongs; one `find`. */
export const findUserByIdentity = (
  project: Project,
  provider: SocialProviderName,
  id: string,
): Promise<UserRecord | undefined> => findUser(project, { 'identities.key': { $eq: identityKey(provider, id) } });
