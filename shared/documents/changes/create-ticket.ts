import type { Collection } from '../../collections/collection.ts';
import { realtimeSettings } from '../../core/config.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { channelFor } from '../../realtime/channels.ts';
import { issueTicket, ticketSeconds } from '../../realtime/ticket.ts';
import { requireFeed } from './require-feed.ts';

/**
 * A ticket for the channels of collections that the caller may list and that have a changes feed; `callerOf` refuses
 * who may not. One that is refused refuses all: 401, 409 `CHANGES_NOT_ENABLED`. Costs no command. Answers where to
 * connect, `wss://…/event/realtime`, for how many seconds, and the channel of each collection; nothing where none are
 * deployed.
 */
export const createTicket = async (
  project: Project,
  collections: readonly Collection[],
  callerOf: (collection: Collection) => Caller,
) => {
  let caller: Caller = { kind: 'publishable' };
  const channels: Record<string, string> = {};
  for (const collection of collections) {
    caller = callerOf(collection);
    requireFeed({ collection, caller });
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
