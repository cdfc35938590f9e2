import type { Collection } from '../../collections/collection.ts';
import { nextOf } from '../../documents/revision.ts';
import { open, seal } from '../../projects/sealed.ts';
import { type UserRecord, type UserView, userView } from './user-record.ts';

/** What is left to say of a user who is deleted, and the revision that the deletion stands for. */
interface LastView {
  readonly user: UserView;
  readonly rev: number;
}

const boundTo = (id: string): string => `${id}/last view`;

/** What webhooks are told of a user who is about to be deleted, sealed, as nothing else of them may stay. */
export const sealLastView = (users: Collection, record: UserRecord): Promise<string> =>
  seal(
    JSON.stringify({ user: userView(users, record), rev: nextOf({ ...record }) } satisfies LastView),
    boundTo(record._id.toHexString()),
  );

/** The same opened; `id` is the user's. */
export const lastViewOf = async (id: string, sealed: string): Promise<LastView> =>
  JSON.parse(await open(sealed, boundTo(id)));
