import type { Collection } from '../collections/collection.ts';
import type { Caller, Project } from '../projects/project.ts';
import { type RoomOf, roomChannelOf, roomSeconds } from '../realtime/rooms.ts';
import { requireGet } from './access/reading.ts';
import { userOf } from './access/rules-of.ts';
import { documentId, documentNotFound } from './document.ts';
import { findReadableIds } from './query/populate-targets.ts';

/** Rooms of documents for one caller. */
export interface Rooms {
  readonly caller: Caller;
  /** In the order of the request. */
  readonly rooms: readonly { readonly of: RoomOf; readonly channel: string }[];
  readonly mayPublish: boolean;
  /** Seconds until the first of the channels changes its name. */
  readonly secondsLeft: number;
}

/** Users who are not anonymous may publish. Costs one command if there is a user. */
const mayPublish = async (project: Project, caller: Caller): Promise<boolean> =>
  caller.kind === 'publishable' && (await userOf(project, caller, new Map(), true))?.isAnonymous === false;

/**
 * The rooms of documents that the caller may read, at least one; `collections` are theirs, in the same order. Costs
 * one query for each collection and what its rules need. Throws as a read of a document does: 400, 401, or 404
 * `DOCUMENT_NOT_FOUND` if one of them is unreadable.
 */
export const openRooms = async (
  project: Project,
  wanted: readonly RoomOf[],
  collections: readonly Collection[],
  callerOf: (collection: Collection) => Caller,
): Promise<Rooms> => {
  const rooms = wanted.map(({ collection: name, id }, index) => {
    const collection = collections[index] as Collection;
    return { of: { collection: name, id }, collection, id: documentId(id).toHexString() };
  });
  let caller: Caller = { kind: 'publishable' };
  for (const inIt of Map.groupBy(rooms, ({ of }) => of.collection).values()) {
    const [{ collection }] = inIt as [(typeof rooms)[number]];
    caller = callerOf(collection);
    const context = { project, collection, caller };
    await requireGet(context, false);
    const ids = [...new Set(inIt.map(({ id }) => id))];
    if ((await findReadableIds(context, ids)).size < ids.length) throw documentNotFound();
  }
  const opened = rooms.map(({ of, collection, id }) => ({ of, ...roomChannelOf(project, collection.id ?? '', id) }));
  return {
    caller,
    rooms: opened.map(({ of, channel }) => ({ of, channel })),
    mayPublish: await mayPublish(project, caller),
    secondsLeft: Math.min(roomSeconds, ...opened.map(({ secondsLeft }) => secondsLeft)),
  };
};
