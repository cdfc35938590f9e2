import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { roomNamespace } from '../../../shared/realtime/channels.ts';

/** One subscription of a connection. */
interface Listener {
  readonly onEvent: (event: string) => void;
}

/** The subscriptions of each channel. */
export class ChannelHub {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Returns the function that ends the subscription. */
  add(channel: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(channel) === listeners) this.#listeners.delete(channel);
    };
  }

  publish(channel: string, events: readonly string[]): void {
    for (const listener of this.#listeners.get(channel) ?? []) for (const event of events) listener.onEvent(event);
  }
}

/** The authorizer's response. */
export interface Decision {
  readonly isAuthorized: boolean;
  readonly handlerContext?: { readonly userId: string };
}

/** Decides whether a token allows `EVENT_CONNECT`, or `EVENT_SUBSCRIBE` or `EVENT_PUBLISH` with a channel. */
export type Authorize = (operation: string, ticket: string, channel?: string) => Promise<Decision>;

/** An error of the Event API. */
export class EventError extends Error {
  readonly errorType: string;

  constructor(errorType: string, message: string) {
    super(message);
    this.errorType = errorType;
  }
}

export const unauthorized = (): EventError =>
  new EventError('UnauthorizedException', 'You are not authorized to make this call.');

interface RoomEvent {
  readonly id: string;
  readonly payload: unknown;
}

type OnPublish = (context: object) => readonly RoomEvent[];

const util = {
  base64Encode: (text: string): string => Buffer.from(text).toString('base64'),
  error: (message: string, type: string): never => {
    throw new EventError(type, message);
  },
};

/** The handler of rooms, as AppSync loads it: without anything of Node. */
const loadHandler = (): OnPublish => {
  const code = readFileSync(new URL('../../stacks/room-handler.js', import.meta.url), 'utf8');
  const script = code.replace(/^import .*$/m, '').replace('export function', 'function');
  return runInNewContext(`${script}\nonPublish`, { util }) as OnPublish;
};

const maxEvents = 5;
/** A room takes so many events a second from one ticket, and at first as many together. */
const eventsPerSecond = 5;

/** `/namespace/a/b` with up to five segments. */
const channelPattern = /^\/?[A-Za-z0-9-]{1,50}(?:\/[A-Za-z0-9-]{1,50}){1,4}$/;

const parsed = (event: unknown): unknown => {
  try {
    return JSON.parse(String(event));
  } catch {
    throw new EventError('BadRequestException', 'An event must be JSON text.');
  }
};

/** Publishes events (JSON texts) with a ticket. Throws an `EventError`. */
export type PublishByTicket = (ticket: string, channel: string, events: unknown) => Promise<void>;

/** Publications of clients, which tickets allow in rooms only. */
export const publisher = (hub: ChannelHub, authorize: Authorize): PublishByTicket => {
  const onPublish = loadHandler();
  /** Ticket → events that it may still publish, and since when. */
  const budgets = new Map<string, { readonly left: number; readonly atMs: number }>();

  const spend = (ticket: string, count: number): void => {
    const now = performance.now();
    const { left, atMs } = budgets.get(ticket) ?? { left: eventsPerSecond, atMs: now };
    const available = Math.min(eventsPerSecond, left + ((now - atMs) / 1000) * eventsPerSecond);
    if (available < count) throw new EventError('LimitExceededError', 'A client publishes at most 5 events a second.');
    budgets.delete(ticket);
    budgets.set(ticket, { left: available - count, atMs: now });
    // Full again; the oldest are first.
    for (const [old, budget] of budgets) {
      if (now - budget.atMs < 1000) break;
      budgets.delete(old);
    }
  };

  return async (ticket, channel, events) => {
    if (!channelPattern.test(channel) || !Array.isArray(events) || events.length === 0 || events.length > maxEvents) {
      throw new EventError('BadRequestException', 'Publish 1 to 5 events on a channel.');
    }
    const { isAuthorized, handlerContext } = await authorize('EVENT_PUBLISH', ticket, channel);
    const segments = channel.split('/').filter(Boolean);
    if (!isAuthorized || segments[0] !== roomNamespace) throw unauthorized();
    spend(ticket, events.length);
    const incoming = events.map((event, index) => ({ id: String(index), payload: parsed(event) }));
    const path = `/${segments.join('/')}`;
    const info = { channel: { path, segments }, channelNamespace: { name: roomNamespace }, operation: 'PUBLISH' };
    const outgoing = onPublish({ events: incoming, identity: { handlerContext }, info });
    hub.publish(
      path,
      outgoing.map(({ payload }) => JSON.stringify(payload)),
    );
  };
};
