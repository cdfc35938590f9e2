import { hash } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { type Collection, isPrivate, requiresFactor } from '../collections/collection.ts';
import { clock, nowSeconds } from '../core/clock.ts';
import { realtimeSettings } from '../core/config.ts';
import { describeError, log } from '../core/log.ts';
import { SignedClient } from '../persistence/aws-client.ts';
import { publish } from '../persistence/mongo-commands.ts';
import type { Caller, Project } from '../projects/project.ts';
import { derivedKey } from '../projects/sealed.ts';

/** The namespace of the channels of rooms in the Event API. Its handler is `infra/stacks/room-handler.js`. */
export const roomNamespace = 'rooms';

/** A room's channel gets another name after this time. */
export const roomSeconds = 900;

/** A document, whose readers share a room. */
export interface RoomOf {
  readonly collection: string;
  readonly id: string;
}

interface RoomChannel {
  readonly channel: string;
  /** Seconds until the channel's name changes, from 1 to 900. */
  readonly secondsLeft: number;
}

/** The present channel of a document. Each room changes at a time of its own, so that clients do not all return together. */
export const roomChannelOf = (project: Project, collectionId: string, id: string): RoomChannel => {
  const name = hash('sha256', `${project.id}/${collectionId}/${id}`).slice(0, 32);
  const shifted = Math.floor(clock.now() / 1000) + (Number.parseInt(name.slice(0, 8), 16) % roomSeconds);
  return {
    channel: `/${roomNamespace}/${name}/${Math.floor(shifted / roomSeconds).toString(36)}`,
    secondsLeft: roomSeconds - (shifted % roomSeconds),
  };
};

/** The namespace of all channels in the Event API. */
export const channelNamespace = 'live';

/** Who may subscribe to a channel: everyone, secret keys, one user, or everyone who may list a partition. */
export type Audience = 'everybody' | 'secret key' | { readonly userId: string } | { readonly partition: string };

/** A segment allows 50 letters, digits and dashes; a user's id may be any text. */
const segmentOf = (audience: Audience): string => {
  if (audience === 'everybody') return 'all';
  if (audience === 'secret key') return 'secret';
  if ('partition' in audience) return `in-${hash('sha256', audience.partition).slice(0, 30)}`;
  return `user-${hash('sha256', audience.userId).slice(0, 32)}`;
};

/** An edit of the `read` rule or of the mode renames the channels, which ends subscriptions. */
const generationOf = ({ readSince, enabled, mode }: Collection['rls']): string => {
  const isOpen = !readSince && !(enabled && mode === 'signed-in');
  return isOpen ? '' : `${mode.charAt(0)}${(readSince?.getTime() ?? 0).toString(36)}-`;
};

/** A channel belongs to one creation of a collection and to its requirements, so earlier subscribers hear no more. */
export const channelOf = ({ id = '', rls }: Collection, audience: Audience): string =>
  `/${channelNamespace}/${id}/${requiresFactor(rls) ? 'mfa-' : ''}${generationOf(rls)}${segmentOf(audience)}`;

/** A partition as an audience. Another field of the collection gets other channels. */
export const partitionOf = ({ partition = '' }: Collection, value: unknown): Audience => ({
  partition: JSON.stringify([partition, String(value)]),
});

/** The channel of a caller with access; in a private collection each user has their own, otherwise each partition. */
export const channelFor = (collection: Collection, { kind, userId = '' }: Caller, value?: unknown): string => {
  const { rls, partition } = collection;
  if (isPrivate(rls)) return channelOf(collection, kind === 'secret' ? 'secret key' : { userId });
  if (partition === undefined) return channelOf(collection, 'everybody');
  return channelOf(collection, value === undefined ? 'secret key' : partitionOf(collection, value));
};

export const ticketSeconds = 900;

const typ = 'realtime+jwt';
const audience = 'realtime';

/** In characters; a ticket of 20 channels and 20 rooms has 4,000. */
const maxLength = 8192;

const key = (): Promise<Buffer> => derivedKey('realtime tickets');

interface TicketOptions {
  /** For how long the ticket is valid. */
  readonly seconds?: number;
  /** Whether the user may publish on those channels that are rooms. */
  readonly publishes?: boolean;
}

/** A ticket for these channels only. */
export const issueTicket = async (
  { id }: Project,
  { kind, userId }: Caller,
  channels: readonly string[],
  { seconds = ticketSeconds, publishes = false }: TicketOptions = {},
): Promise<string> =>
  new SignJWT({
    project: id,
    caller: kind,
    channels,
    ...(userId !== undefined && { sub: userId }),
    ...(publishes && { publishes }),
  })
    .setProtectedHeader({ alg: 'HS256', typ })
    .setAudience(audience)
    .setIssuedAt(nowSeconds())
    .setExpirationTime(nowSeconds() + seconds)
    .sign(await key());

interface Ticket {
  readonly channels: readonly string[];
  /** The user who may publish on the rooms among the channels. */
  readonly publisher?: string | undefined;
}

/** What a valid ticket allows, otherwise `undefined`. */
const readTicket = async (ticket: string): Promise<Ticket | undefined> => {
  if (ticket.length > maxLength) return undefined;
  try {
    const { payload } = await jwtVerify(ticket, await key(), {
      algorithms: ['HS256'],
      typ,
      audience,
      currentDate: new Date(clock.now()),
      requiredClaims: ['exp', 'iat'],
    });
    const { channels, publishes, sub } = payload;
    if (!Array.isArray(channels)) return undefined;
    return { channels: channels.map(String), ...(publishes === true && { publisher: sub }) };
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
};

/** The Event API sends it before a connection, a subscription and a publication. */
interface ChannelRequest {
  readonly authorizationToken: string;
  readonly requestContext: {
    readonly operation: string;
    /** Missing for a connection. */
    readonly channel?: string | null;
  };
}

/** `ttlOverride` 0 prevents caching, because a decision is valid for one channel only. */
interface ChannelDecision {
  readonly isAuthorized: boolean;
  readonly ttlOverride: 0;
  /** The channel's handler gets it for a publication. */
  readonly handlerContext?: { readonly userId: string };
}

/**
 * A valid ticket may connect, and subscribe to exactly the channels it names, without wildcards. It publishes on rooms
 * only, if its user may publish.
 */
export const authorizeChannel = async ({
  authorizationToken,
  requestContext: { operation, channel },
}: ChannelRequest): Promise<ChannelDecision> => {
  const ticket = await readTicket(authorizationToken);
  const full = `/${(channel ?? '').replace(/^\//, '')}`;
  const isNamed = ticket?.channels.includes(full) ?? false;
  if (operation === 'EVENT_PUBLISH') {
    const userId = isNamed && full.startsWith(`/${roomNamespace}/`) ? ticket?.publisher : undefined;
    return {
      isAuthorized: userId !== undefined,
      ttlOverride: 0,
      ...(userId !== undefined && { handlerContext: { userId } }),
    };
  }
  const isConnection = operation === 'EVENT_CONNECT' && ticket !== undefined;
  return { isAuthorized: isConnection || (operation === 'EVENT_SUBSCRIBE' && isNamed), ttlOverride: 0 };
};

/** The events are JSON. */
interface Publication {
  readonly channel: string;
  readonly events: readonly string[];
}

/** Maximum of the Event API. */
const maxEvents = 5;

/** Maximum requests per write; the changes feed has the rest. */
const maxRequests = 20;

const batched = ({ channel, events }: Publication): Publication[] =>
  Array.from({ length: Math.ceil(events.length / maxEvents) }, (_, batch) => ({
    channel,
    events: events.slice(batch * maxEvents, (batch + 1) * maxEvents),
  }));

let eventApi: SignedClient | undefined;

const send = async (address: URL, publication: Publication): Promise<void> => {
  publish({ system: 'appsync', name: 'EventPublish' });
  const { NUDGE_MS: answerMs } = realtimeSettings();
  eventApi ??= new SignedClient('appsync', { maxTries: 1, connectMs: answerMs, answerMs }, address.origin);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(publication);
  await eventApi.request({ operation: 'EventPublish', path: address.pathname, headers, body, parse: String });
};

/** Publishes what it can within `NUDGE_MS`, 200 ms by default. The rest is lost; a failure is only logged. */
export const publishEvents = async (address: string, publications: readonly Publication[]): Promise<void> => {
  const batches = publications.flatMap(batched).slice(0, maxRequests);
  const sent = await Promise.allSettled(batches.map((batch) => send(new URL(address), batch)));
  const failed = sent.find((outcome) => outcome.status === 'rejected');
  if (failed) log.warn({ message: 'Hints of changes were not published', error: describeError(failed.reason) });
};

/** `undefined` in a deployment without live updates. */
export const publishAddress = (): string | undefined => realtimeSettings().REALTIME_PUBLISH_URL;
