import { ObjectId } from 'mongodb';
import { type Announcement, announced, isHooked } from '../../events/announced.ts';
import type { Project } from '../../projects/project.ts';
import type { AccountFilter, AccountStore } from '../account-store.ts';
import type { UserRecord } from './user-record.ts';

/** Writes something of a user that the project's webhooks may be told of. */
export const announcedUser = <T>(
  project: Project,
  event: Announcement['event'],
  _id: ObjectId,
  write: () => Promise<T>,
  said: Partial<Announcement> = {},
  hasHappened?: (written: T) => boolean,
): Promise<T> => announced(project, { event, thing: `user/${_id.toHexString()}`, ...said }, write, hasHappened);

/** The accounts whose changes the project's webhooks are told of, where it has such; else they are what they were. */
export const announcedAccounts = (project: Project, store: AccountStore<UserRecord>): AccountStore<UserRecord> => {
  if (!isHooked(project, 'user')) return store;
  const told = async <T>(filter: AccountFilter, write: () => Promise<T>): Promise<T> => {
    const _id = filter._id instanceof ObjectId ? filter._id : (await store.find(filter))?._id;
    return _id ? announcedUser(project, 'user.updated', _id, write, {}, Boolean) : write();
  };
  return {
    ...store,
    change: (filter, change) => told(filter, () => store.change(filter, change)),
    write: (filter, change) => told(filter, () => store.write(filter, change)),
  };
};
