import { ObjectId } from 'mongodb';
import { type Collection, hasRules, isPrivate, requiresFactor } from '../../collections/collection.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { realtimeSettings } from '../../core/config.ts';
import type { Caller, Project } from '../../projects/project.ts';
import {
  type Audience,
  channelFor,
  channelOf,
  issueTicket,
  partitionOf,
  publishAddress,
  publishEvents,
  ticketSeconds,
} from '../../realtime/channels.ts';
import type { AccessContext } from '../access/access.ts';
import { mayListWithoutUser } from '../access/reading.ts';
import { type Document, presentStored, revisionOf } from '../document.ts';
import type { Rooms } from '../rooms.ts';
import { wireDocument } from '../wire.ts';
import { requireFeed, requirePartition } from './changes.ts';
import { publishLater } from './joint-scope.ts';

/** A message contains a document of up to so many bytes of JSON. */
const maxDocumentBytes = 4096;

/** A small document that a publishable key may list without a user; `undefined` for any other. */
const shownTo = async (project: Project, collection: Collection, stored: Document): Promise<unknown> => {
  const { rls } = collection;
  if (isPrivate(rls) || requiresFactor(rls) || (rls.enabled && rls.mode === 'signed-in')) return undefined;
  // Readers see different fields of it.
  if (rightsOf(collection).read.length > 0) return undefined;
  if (hasRules(rls) && !(await mayListWithoutUser({ project, collection }, stored))) return undefined;
  const { document } = presentStored(project, stored);
  return Buffer.byteLength(JSON.stringify(document)) <= maxDocumentBytes ? document : undefined;
};

const nudgeOf = async (project: Project, collection: Collection, stored: Document): Promise<string> => {
  const state = isTrashed(stored) ? { deleted: true } : { document: await shownTo(project, collection, stored) };
  const { _id } = wireDocument({ _id: stored._id });
  return JSON.stringify({ collection: collection.name, _id, rev: revisionOf(stored), ...state });
};

/** A private document is published to its owner and to the secret key, one of a partition to that and the secret key. */
const audiencesOf = (collection: Collection, stored: Document): readonly Audience[] => {
  const { rls, partition } = collection;
  const owner = stored[rls.ownerField];
  if (!isPrivate(rls)) {
    if (partition === undefined) return ['everybody'];
    const value = stored[partition] ?? undefined;
    // Of too many messages the last are not sent.
    return value === undefined ? ['secret key'] : [partitionOf(collection, value), 'secret key'];
  }
  const userId = owner instanceof ObjectId ? owner.toHexString() : owner;
  return typeof userId === 'string' ? ['secret key', { userId }] : ['secret key'];
};

/** Where to publish writes of a collection; `undefined` if live updates are not available. */
const addressFor = ({ feed }: Collection): string | undefined => (feed?.on ? publishAddress() : undefined);

/** Whether writes of the collection can be published. */
export const isWatched = (collection: Collection): boolean => addressFor(collection) !== undefined;

/**
 * Publishes written documents, as they are stored now, to live updates; for deleted ones id, owner and revision are
 * enough. Does nothing without live updates, and waits for the commit of a joint run. Never fails and takes 200 ms at most, because the changes feed has what
 * is lost. Contract 2, "Live updates".
 */
export const publishChange = async (context: AccessContext, written: readonly Document[]): Promise<void> => {
  const { project, collection } = context;
  const address = addressFor(collection);
  if (address === undefined || publishLater(context, written)) return;
  const events = new Map<string, string[]>();
  for (const stored of written) {
    const event = await nudgeOf(project, collection, stored);
    for (const audience of audiencesOf(collection, stored)) {
      const channel = channelOf(collection, audience);
      events.set(channel, [...(events.get(channel) ?? []), event]);
    }
  }
  await publishEvents(
    address,
    [...events].map(([channel, all]) => ({ channel, events: all })),
  );
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
