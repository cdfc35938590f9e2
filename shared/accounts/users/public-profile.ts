import { onManaged } from '../../clients/mongo.ts';
import type { Collection } from '../../collections/collection.ts';
import { publicProfile, publicProfileProjection } from '../../collections/schema/public-profile.ts';
import { AppError } from '../../core/errors.ts';
import { wireDocument } from '../../documents/wire-value.ts';
import type { Project } from '../../projects/project.ts';
import { profileFields, type UserRecord } from './user-record.ts';

const userNotFound = (): AppError => new AppError('USER_NOT_FOUND', 'User not found');

/** What anybody may see of the user with a username: nothing secret. Unknown, or no such field → 404. */
export const getPublicProfile = async (
  project: Project,
  users: Collection,
  username: string,
): Promise<Record<string, unknown> & { readonly _id: string }> => {
  const field = profileFields(users).find(({ key }) => key === 'username');
  if (field?.type !== 'String') throw userNotFound();
  const record = await onManaged(project, (db) =>
    db
      .collection<UserRecord>(users.name)
      .findOne(
        { username: { $eq: username }, isDeleted: { $ne: true }, isDisabled: { $ne: true } },
        { projection: publicProfileProjection(users), maxTimeMS: 5000 },
      ),
  );
  if (!record) throw userNotFound();
  return { ...wireDocument(publicProfile(users, record)), _id: record._id.toHexString() };
};
