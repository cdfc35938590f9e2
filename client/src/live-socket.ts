import type { Send } from './connection.ts';

/** What is told of a document that was written. */
export interface Change {
  readonly _id: string;
  readonly rev: number;
  readonly deleted?: true;
  readonly document?: object;
}

interface Ticket {
  readonly data: { readonly url: string | null; readonly ticket: string; readonly channels: Record<string, string> };
}

interface Message {
  readonly type: string;
  /** JSON of what was published. */
  readonly event: string;
  readonly connectionTimeoutMs: number;
}

export interface Listener {
  /** Nothing that is written from now on goes unheard, unless it is lost. */
  readonly onConnected: () => void;
  readonly onChange: (change: Change) => void;
}

/** The service says something every minute. */
const silentMs = 150_000;

const base64url = (text: string): string => btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/**
 * Hears the changes of a collection on a connection of its own until that ends or the signal ends it; `false` where
 * there is nothing to hear.
 */
export const hear = async (
  send: Send,
  name: string,
  { onConnected, onChange }: Listener,
  signal: AbortSignal,
): Promise<boolean> => {
  const asked = { body: { collections: [name] }, headers: { 'idempotency-key': undefined }, signal };
  const { url, ticket, channels } = (await send<Ticket>('POST', '/api/realtime/tickets', asked)).data;
  if (!url || !globalThis.WebSocket || signal.aborted) return false;
  const authorization = { Authorization: ticket, host: new URL(url).host.replace('-realtime', '') };
  const socket = new WebSocket(url, ['aws-appsync-event-ws', `header-${base64url(JSON.stringify(authorization))}`]);
  const close = (): void => socket.close();
  const say = (message: object): void => socket.send(JSON.stringify(message));
  let silence: ReturnType<typeof setTimeout> | undefined;
  const listen = (): void => {
    clearTimeout(silence);
    silence = setTimeout(close, silentMs);
  };
  signal.addEventListener('abort', close);
  listen();
  return new Promise((resolve) => {
    socket.onopen = () => say({ type: 'connection_init' });
    socket.onmessage = ({ data }) => {
      listen();
      const { type, event } = JSON.parse(data as string) as Message;
      if (type === 'connection_ack') say({ type: 'subscribe', id: name, channel: channels[name], authorization });
      else if (type === 'subscribe_success') onConnected();
      else if (type === 'data') onChange(JSON.parse(event) as Change);
      else if (type.endsWith('error')) close();
    };
    socket.onclose = socket.onerror = () => {
      clearTimeout(silence);
      signal.removeEventListener('abort', close);
      close();
      resolve(true);
    };
  });
};
