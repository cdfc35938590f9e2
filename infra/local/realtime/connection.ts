import type { WebSocket } from 'ws';
import { type Authorize, type ChannelHub, EventError, type PublishByTicket, unauthorized } from './publish.ts';

interface Message {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly channel?: unknown;
  readonly events?: unknown;
  readonly authorization?: unknown;
}

/** Without a `ka` message for this time, clients consider the connection dead. */
const connectionTimeoutMs = 300_000;
const keepAliveMs = 60_000;
const maxSubscriptions = 100;

/** A client that reads too slowly is disconnected. */
const maxBufferedBytes = 4 * 1024 * 1024;

/** `/namespace/a/b` with up to five segments. The last may be `*`, which no token allows. */
const channelPattern = /^\/?[A-Za-z0-9-]{1,50}(?:\/[A-Za-z0-9-]{1,50}){0,4}(?:\/\*)?$/;

/** The token in a message's `authorization` object. */
export const ticketIn = (headers: unknown): string => {
  const { Authorization, authorization } = Object(headers) as Record<string, unknown>;
  return String(Authorization ?? authorization ?? '');
};

/** Serves the protocol of AppSync Events on an authorized socket. */
export const serveConnection = (
  socket: WebSocket,
  hub: ChannelHub,
  authorize: Authorize,
  publish: PublishByTicket,
): void => {
  /** Id → how to end it; `undefined` while the authorizer runs. */
  const subscriptions = new Map<string, (() => void) | undefined>();
  const send = (message: object): void => socket.send(JSON.stringify(message));
  const sendError = (type: string, id: unknown, errorType: string, message: string): void =>
    send({ type, ...(id !== undefined && { id }), errors: [{ errorType, message }] });

  const subscribe = async (id: string, channel: string, ticket: string): Promise<void> => {
    if (subscriptions.has(id)) {
      return sendError('subscribe_error', id, 'DuplicatedOperationError', 'This id has a subscription.');
    }
    if (subscriptions.size >= maxSubscriptions) {
      return sendError('subscribe_error', id, 'LimitExceededError', 'The connection has 100 subscriptions.');
    }
    if (!channelPattern.test(channel)) {
      return sendError('subscribe_error', id, 'BadRequestException', 'Invalid channel.');
    }
    subscriptions.set(id, undefined);
    const { isAuthorized } = await authorize('EVENT_SUBSCRIBE', ticket, channel);
    if (!isAuthorized || socket.readyState !== socket.OPEN) {
      subscriptions.delete(id);
      const { errorType, message } = unauthorized();
      return sendError('subscribe_error', id, errorType, message);
    }
    const head = `{"type":"data","id":${JSON.stringify(id)},"event":`;
    const onEvent = (event: string): void => {
      if (socket.bufferedAmount > maxBufferedBytes) socket.terminate();
      else socket.send(`${head}${JSON.stringify(event)}}`);
    };
    send({ type: 'subscribe_success', id });
    subscriptions.set(id, hub.add(channel, { onEvent }));
  };

  const unsubscribe = (id: string): void => {
    const end = subscriptions.get(id);
    if (end) {
      end();
      subscriptions.delete(id);
      send({ type: 'unsubscribe_success', id });
    } else sendError('unsubscribe_error', id, 'UnknownOperationError', 'This id has no subscription.');
  };

  const publishEvents = async (id: string, channel: string, events: unknown, ticket: string): Promise<void> => {
    try {
      await publish(ticket, channel, events);
    } catch (error) {
      if (error instanceof EventError) return sendError('publish_error', id, error.errorType, error.message);
      throw error;
    }
    const successful = (events as readonly unknown[]).map((_event, index) => ({ identifier: `${id}-${index}`, index }));
    send({ type: 'publish_success', id, successful, failed: [] });
  };

  const handle = async ({ type, id, channel, events, authorization }: Message): Promise<void> => {
    if (type === 'connection_init') return send({ type: 'connection_ack', connectionTimeoutMs });
    if (typeof id !== 'string' || id.length > 128) {
      return sendError('error', undefined, 'BadRequestException', 'An operation needs an id.');
    }
    if (type === 'subscribe') return subscribe(id, String(channel), ticketIn(authorization));
    if (type === 'unsubscribe') return unsubscribe(id);
    if (type === 'publish') return publishEvents(id, String(channel), events, ticketIn(authorization));
    return sendError('error', id, 'UnsupportedOperation', 'Operation not supported through the realtime channel.');
  };

  const alive = setInterval(() => send({ type: 'ka' }), keepAliveMs);
  socket.on('message', (data) => {
    let message: Message;
    try {
      message = Object(JSON.parse(String(data)));
    } catch {
      return sendError('error', undefined, 'BadRequestException', 'A message must be JSON.');
    }
    handle(message).catch(() => socket.terminate());
  });
  socket.on('close', () => {
    clearInterval(alive);
    for (const end of subscriptions.values()) end?.();
  });
  socket.on('error', () => socket.terminate());
};
