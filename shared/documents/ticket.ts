import type { Collection } from '../collections/collection.ts';
import { realtimeSettings } from '../core/config.ts';
import type { Caller, Project } from '../projects/project.ts';
import {
  channelFor,
  issueTicket,
  type RoomOf,
  roomChannelOf,
  roomSeconds,
  ticketSeconds,
} from '../realtime/channels.ts';
import { requireGet } from './access/reading.ts';
import { userOf } from './access/rules-of.ts';
import { documentId, documentNotFound } from './document.ts';
import { findReadableIds } from './query/populate-targets.ts';
import { requireFeed, requirePartition } from './store/feed.ts';

/** Rooms of documents for one caller. */
interface Rooms {
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

/** A collection, or one partition of it. */
interface Subscription {
  readonly collection: Collection;
  readonly partition?: string | undefined;
}

/**
 * The channels of collections by name, and those of partitions. Throws 401, 409 `CHANGES_NOT_ENABLED`, and the errors of
 * `requirePartition`.
 */
const channelsFor = async (
  project: Project,
  subscriptions: readonly Subscription[],
  callerOf: (collection: Collection) => Caller,
) => {
  const channels: Record<string, string> = {};
  const partitions: { readonly collection: string; readonly partition: string; readonly channel: string }[] = [];
  for (const { collection, partition } of subscriptions) {
    const caller = callerOf(collection);
    const context = { project, collection, caller };
    await requireFeed(context);
    const channel = channelFor(collection, caller, await requirePartition(context, partition));
    if (partition === undefined) channels[collection.name] = channel;
    else partitions.push({ collection: collection.name, partition, channel });
  }
  const all = [...Object.values(channels), ...partitions.map(({ channel }) => channel)];
  return { all, listed: { channels, ...(partitions.length > 0 && { partitions }) } };
};

/** A ticket outlives the name of its rooms by this time, so that events on the way are not rejected. */
const roomGraceSeconds = 10;

/**
 * A ticket for the channels of collections, or of their partitions, that the caller may list and that have a changes
 * feed, and for `opened` rooms. `callerOf` throws for callers who may not; one error rejects all: 401, 409
 * `CHANGES_NOT_ENABLED`. Costs no command, except the look-ups of rules for partitions. Returns the address,
 * `wss://…/event/realtime`, the seconds after which to get another one, and each channel; `null` if live updates are
 * not deployed.
 */
export const createTicket = async (
  project: Project,
  subscriptions: readonly Subscription[],
  callerOf: (collection: Collection) => Caller,
  opened?: Rooms,
) => {
  const { all, listed } = await channelsFor(project, subscriptions, callerOf);
  const last = subscriptions.at(-1);
  const { REALTIME_URL: url } = realtimeSettings();
  if (url === undefined) return { url: null, ticket: null, expiresIn: 0, channels: {}, ...(opened && { rooms: [] }) };
  if (!opened) {
    const caller: Caller = last ? callerOf(last.collection) : { kind: 'publishable' };
    return { url, ticket: await issueTicket(project, caller, all), expiresIn: ticketSeconds, ...listed };
  }
  const { rooms, mayPublish, secondsLeft } = opened;
  const withRooms = [...all, ...new Set(rooms.map(({ channel }) => channel))];
  const options = { seconds: secondsLeft + roomGraceSeconds, publishes: mayPublish };
  return {
    url,
    ticket: await issueTicket(project, opened.caller, withRooms, options),
    expiresIn: secondsLeft,
    ...listed,
    rooms,
  };
};
