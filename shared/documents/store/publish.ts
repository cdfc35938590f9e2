import { ObjectId } from 'mongodb';
import { type Collection, hasRules, isPrivate, requiresFactor } from '../../collections/collection.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import type { Project } from '../../projects/project.ts';
import { type Audience, channelOf, partitionOf, publishAddress, publishEvents } from '../../realtime/channels.ts';
import type { AccessContext } from '../access/access.ts';
import { mayListWithoutUser } from '../access/reading.ts';
import { type Document, presentStored, revisionOf } from '../document.ts';
import { wireDocument } from '../wire.ts';
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
