import type { Send } from './connection.ts';
import { join, type Publish } from './live-socket.ts';

/** A user in the room. `state` is what the user's page says. */
export interface Member {
  readonly userId: string;
  readonly state: Readonly<Record<string, unknown>>;
}

/** An event of another page. Only `userId` is certain; the rest is what that page says. */
export interface RoomEvent {
  readonly userId: string;
  readonly [field: string]: unknown;
}

export interface PresenceOptions {
  /** The document whose readers share the room. */
  readonly of: { readonly collection: string; readonly id: string };
  /** What the others see of this user, such as a name. */
  readonly state?: object;
  readonly onEvent?: (event: RoomEvent) => unknown;
}

export interface Presence {
  /** Sends an event of at most 950 bytes to the others, up to five a second. Of more, only the newest waits. */
  send(event: object): void;
  /** Replaces the state that the others see. */
  set(state: object): void;
  /** Leaves the room. */
  close(): void;
}

interface Ticket {
  readonly data: {
    readonly url: string | null;
    readonly ticket: string;
    readonly expiresIn: number;
    readonly rooms: readonly [{ readonly channel: string }];
  };
}

/** An event as published: `$is` tells about a member, `$tab` is the page that it came from. */
interface Heard {
  readonly userId: string;
  readonly $is?: 'hello' | 'here' | 'left';
  readonly $tab?: string;
  readonly state?: object;
}

interface Globals {
  readonly reportError?: (error: unknown) => void;
  readonly addEventListener?: (type: string, act: () => void, options: { readonly signal: AbortSignal }) => void;
}

/** A page tells that it is there; browsers delay timers of hidden pages to one a minute. */
const hereEveryMs = 25_000;
const goneAfterMs = 75_000;
/** The service takes five events a second. */
const betweenMs = 210;
/** Of the 1024 bytes that the service takes; the rest is for `$is` and `$tab`. */
const maxBytes = 950;

const report = (error: unknown): void => {
  const { reportError = console.error } = globalThis as Globals;
  reportError(error);
};

/** A copy of what is to be sent. */
const copied = (event: object): object => {
  const text = JSON.stringify(event);
  if (new TextEncoder().encode(text).length > maxBytes) throw new RangeError(`At most ${maxBytes} bytes of JSON.`);
  return JSON.parse(text) as object;
};

/**
 * Enters the room of a document and calls back with its members, this user included: when someone enters, leaves or
 * changes their state. Users who are anonymous or not signed in only listen. An error of the service is reported and
 * ends it.
 */
export const presence = (
  app: object,
  { of, state: first = {}, onEvent }: PresenceOptions,
  onMembers: (members: Member[]) => unknown,
): Presence => {
  const send = (app as Record<symbol, Send>)[Symbol.for('basalt')] as Send;
  const ended = new AbortController();
  const { signal } = ended;
  const $tab = Math.random().toString(36).slice(2, 10);
  /** User and page → the member, and when it was last heard of. */
  const pages = new Map<string, Member & { readonly atMs: number }>();
  let state = copied(first);
  let shown = '[]';
  let publish: Publish | undefined;
  let isSilenced = false;
  let telling: Heard['$is'];
  let waiting: object | undefined;
  let turn: ReturnType<typeof setTimeout> | undefined;
  let reply: ReturnType<typeof setTimeout> | undefined;

  const callBack = (act: () => unknown): void => {
    try {
      act();
    } catch (error) {
      report(error);
    }
  };

  const show = (): void => {
    const users = new Map<string, Member>();
    for (const { userId, state: said } of pages.values()) users.set(userId, { userId, state: said });
    const members = [...users.values()];
    const text = JSON.stringify(members);
    if (text !== shown) callBack(() => onMembers(members));
    shown = text;
  };

  const say = (event: object, isOfApp = false): void => {
    publish?.(JSON.stringify({ ...event, $tab }), (errorType) => {
      if (errorType === 'UnauthorizedException') isSilenced = true;
      if (isOfApp && !signal.aborted) report(new Error(`The event was not published: ${errorType}`));
    });
  };

  /** Sends what waits, one event at a time. */
  const flush = (): void => {
    turn = undefined;
    if (!publish) return;
    if (telling && !isSilenced) say({ $is: telling, state });
    else if (waiting) {
      say({ ...waiting, $is: undefined }, true);
      waiting = undefined;
    } else return;
    telling = undefined;
    turn = setTimeout(flush, betweenMs);
  };

  const tell = (kind: 'hello' | 'here'): void => {
    telling ??= kind;
    if (!turn) flush();
  };

  const hear = (text: string): void => {
    const { $is, $tab: tab, ...event } = JSON.parse(text) as Heard & RoomEvent;
    const { userId } = event;
    const page = `${userId} ${tab}`;
    if (!$is) {
      if (tab !== $tab && onEvent) callBack(() => onEvent(event));
      return;
    }
    if ($is === 'left') pages.delete(page);
    else pages.set(page, { userId, state: { ...(event.state as object) }, atMs: performance.now() });
    if ($is === 'hello' && tab !== $tab) {
      reply ??= setTimeout(() => {
        reply = undefined;
        tell('here');
      }, Math.random() * 1000);
    }
    show();
  };

  const beat = setInterval(() => {
    tell('here');
    for (const [page, { atMs }] of pages) if (performance.now() - atMs > goneAfterMs) pages.delete(page);
    show();
  }, hereEveryMs);

  const leave = (): void => {
    if (!isSilenced) say({ $is: 'left' });
  };

  /** Stays in the room until its channel changes. Returns whether that was the reason to leave. */
  const stay = async (isKnown: boolean): Promise<boolean> => {
    const asked = { body: { rooms: [{ of }] }, headers: { 'idempotency-key': undefined }, signal };
    const { url, ticket, expiresIn, rooms } = (await send<Ticket>('POST', '/api/realtime/tickets', asked)).data;
    if (!url || !globalThis.WebSocket) {
      ended.abort();
      return false;
    }
    const changed = new AbortController();
    const change = setTimeout(() => changed.abort(), (expiresIn + Math.random()) * 1000);
    const onConnected = (how: Publish): void => {
      publish = how;
      isSilenced = false;
      tell(isKnown ? 'here' : 'hello');
      show();
    };
    const opened = { url, ticket, channel: rooms[0].channel };
    await join(send, opened, { onConnected, onEvent: hear }, AbortSignal.any([signal, changed.signal]));
    publish = undefined;
    clearTimeout(change);
    return changed.signal.aborted;
  };

  const begin = async (): Promise<void> => {
    let isKnown = false;
    for (let failures = 0; !signal.aborted; ) {
      const begunMs = performance.now();
      try {
        isKnown = await stay(isKnown);
      } catch (error) {
        const { status = 0 } = error as { readonly status?: number };
        if (signal.aborted) return;
        isKnown = false;
        if (status >= 400 && status < 500 && status !== 429) {
          report(error);
          pages.clear();
          show();
          return ended.abort();
        }
      }
      if (isKnown || signal.aborted) continue;
      failures = performance.now() - begunMs > goneAfterMs ? 1 : failures + 1;
      const wait = Math.min(60_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  };

  signal.addEventListener('abort', () => {
    clearInterval(beat);
    clearTimeout(turn);
    clearTimeout(reply);
    publish = undefined;
  });
  (globalThis as Globals).addEventListener?.('pagehide', leave, { signal });
  begin().catch(report);
  return {
    send: (event) => {
      waiting = copied(event);
      if (!turn) flush();
    },
    set: (next) => {
      state = copied(next);
      tell('here');
    },
    close: () => {
      leave();
      ended.abort();
    },
  };
};
