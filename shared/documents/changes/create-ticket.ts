import type { Collection } from '../../collections/collection.ts';
import { realtimeSettings } from '../../core/config.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { channelFor } from '../../realtime/channels.ts';
import { issueTicket, ticketSeconds } from '../../realtime/ticket.ts';
import { requireFeed } from './require-feed.ts';

/** What opens live updates; nothing where none are deployed. */
export interface OpenTicket {
  /** Where to connect, `wss://…/event/realtime`. */
  readonly url: string | null;
  readonly ticket: string | null;
  /** Seconds. */
  readonly expiresIn: number;
  /** Name of a collection → what to subscribe to. */
  readonly channels: Readonly<Record<string, string>>;
}

/**
 * A ticket for the channels of collections that the caller may list and that have a changes feed; `callerOf` refuses who
 * may not. One that is refused refuses all: 401, 409 `CHANGES_NOT_ENABLED`. Costs no command.
 */
export const createTicket = async (
  project: Project,
  collections: readonly Collection[],
  callerOf: (collection: Collection) => Caller,
): Promise<OpenTicket> => {
  let caller: Caller = { kind: 'publishable' };
  const channels: Record<string, string> = {};
  for (const collection of collections) {
    caller = callerOf(collection);
    requireFeed(collection, caller);
    channels[collection.name] = channelFor(collection, caller);
  }
  const { REALTIME_URL: url } = realtimeSettings();
  if (url === undefined) return { url: null, ticket: null, expiresIn: 0, channels: {} };
  return {
    url,
    ticket: await issueTicket(project, caller, Object.values(channels)),
    expiresIn: ticketSeconds,
    channels,
  };
};
