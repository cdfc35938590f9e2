import type { Send } from './connection.ts';

/** A message about a document that was written. */
export interface Change {
  readonly _id: string;
  readonly rev: number;
  readonly deleted?: true;
  readonly document?: object;
}

interface Ticket {
  readonly data: {
    readonly url: string | null;
    readonly ticket: string;
    readonly channels: Record<string, string>;
    readonly partitions?: readonly { readonly channel: string }[];
  };
}

interface Message {
  readonly type: string;
  readonly id?: string;
  /** The published event as JSON. */
  readonly event: string;
  readonly errors?: readonly { readonly errorType: string }[];
}

type Ear = (type: string, event: string, errors?: Message['errors']) => void;

/** One socket for all live queries of an app. Each gets its own messages by id, and the end of the connection. */
interface Line {
  readonly ears: Map<string, Ear>;
  readonly say: (message: object) => void;
  readonly close: () => void;
  isReady: boolean;
}

export interface Listener {
  /** Called when the subscription is active: later changes arrive, unless a message is lost. */
  readonly onConnected: () => void;
  readonly onChange: (change: Change) => void;
}

/** The service sends something every minute. */
const silentMs = 150_000;

const base64url = (text: string): string => btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

const lines = new WeakMap<Send, Line>();
let ids = 0;

const connect = (send: Send, url: string, authorization: object): Line => {
  const socket = new WebSocket(url, ['aws-appsync-event-ws', `header-${base64url(JSON.stringify(authorization))}`]);
  const ears: Line['ears'] = new Map();
  const tell = (type: string): void => {
    for (const ear of ears.values()) ear(type, '');
  };
  const say = (message: object): void => socket.send(JSON.stringify(message));
  const close = (): void => {
    clearTimeout(silence);
    line.isReady = false;
    if (lines.get(send) === line) lines.delete(send);
    socket.close();
  };
  let silence: ReturnType<typeof setTimeout> | undefined;
  const listen = (): void => {
    clearTimeout(silence);
    silence = setTimeout(close, silentMs);
  };
  const line: Line = { ears, say, close, isReady: false };
  lines.set(send, line);
  listen();
  socket.onopen = () => say({ type: 'connection_init' });
  socket.onmessage = ({ data }) => {
    listen();
    const { type, id, event, errors } = JSON.parse(data as string) as Message;
    if (type === 'connection_ack') {
      line.isReady = true;
      tell(type);
    } else if (id) ears.get(id)?.(type, event, errors);
    else if (type.endsWith('error')) close();
  };
  socket.onclose = socket.onerror = () => {
    close();
    tell('error');
  };
  return line;
};

/**
 * Receives the changes of a collection until the connection or the signal ends; `false` if there is nothing to
 * receive.
 */
export const hear = async (
  send: Send,
  name: string,
  partition: string | undefined,
  { onConnected, onChange }: Listener,
  signal: AbortSignal,
): Promise<boolean> => {
  const collections = [partition === undefined ? name : { collection: name, partition }];
  const asked = { body: { collections }, headers: { 'idempotency-key': undefined }, signal };
  const { url, ticket, channels, partitions } = (await send<Ticket>('POST', '/api/realtime/tickets', asked)).data;
  const channel = (partitions?.[0]?.channel ?? channels[name]) as string;
  if (!url || !globalThis.WebSocket || signal.aborted) return false;
  const onEvent = (event: string): void => onChange(JSON.parse(event) as Change);
  await join(send, { url, ticket, channel }, { onConnected, onEvent }, signal);
  return true;
};

interface Opened {
  readonly url: string;
  readonly ticket: string;
  readonly channel: string;
}

/** Publishes an event, a JSON text, on the joined channel. `onError` gets the type of the service's error. */
export type Publish = (event: string, onError: (errorType: string) => void) => void;

interface Member {
  readonly onConnected: (publish: Publish) => void;
  readonly onEvent: (event: string) => void;
}

/** Receives the events of a channel until the connection or the signal ends. */
export const join = (
  send: Send,
  { url, ticket, channel }: Opened,
  { onConnected, onEvent }: Member,
  signal: AbortSignal,
): Promise<void> => {
  const authorization = { Authorization: ticket, host: new URL(url).host.replace('-realtime', '') };
  const line = lines.get(send) ?? connect(send, url, authorization);
  const { ears, say, close } = line;
  const newId = (): string => {
    ids += 1;
    return String(ids);
  };
  const id = newId();
  const subscribe = (): void => say({ type: 'subscribe', id, channel, authorization });
  const forget = (ear: string): boolean => {
    ears.delete(ear);
    if (ears.size === 0) close();
    return ears.size > 0;
  };
  const publish: Publish = (event, onError) => {
    const own = newId();
    ears.set(own, (type, _event, errors) => {
      forget(own);
      if (errors) onError(errors[0]?.errorType ?? type);
    });
    say({ type: 'publish', id: own, channel, events: [event], authorization });
  };
  return new Promise((resolve) => {
    const leave = (): void => {
      signal.removeEventListener('abort', leave);
      if (forget(id) && line.isReady) say({ type: 'unsubscribe', id });
      resolve();
    };
    signal.addEventListener('abort', leave);
    ears.set(id, (type, event) => {
      if (type === 'connection_ack') subscribe();
      else if (type === 'subscribe_success') onConnected(publish);
      else if (type === 'data') onEvent(event);
      else if (type.endsWith('error')) leave();
    });
    if (line.isReady) subscribe();
  });
};
