import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { SignatureV4 } from '@smithy/signature-v4';
import { WebSocketServer } from 'ws';
import { type S3Keys, Sha256, timeOf } from '../files/signature.ts';
import { type Invoke, receiveBody } from '../gateway.ts';
import { localAccount } from '../keys.ts';
import { serveConnection, ticketIn } from './connection.ts';
import { type Authorize, ChannelHub, type Decision, EventError, type PublishByTicket, publisher } from './publish.ts';

const publishPath = '/event';
const connectPath = '/event/realtime';
const protocol = 'aws-appsync-event-ws';
const maxMessageBytes = 240 * 1024;
const maxSkewMs = 15 * 60 * 1000;

const respond = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** True if the service itself signed the request. */
const isSignedByService = async ({ headers }: IncomingMessage, body: string, credentials: S3Keys): Promise<boolean> => {
  const { authorization = '', host = '', 'content-type': type = '', 'x-amz-date': date = '' } = headers;
  const at = timeOf(String(date));
  if (Number.isNaN(at) || Math.abs(Date.now() - at) > maxSkewMs) return false;
  const { region } = localAccount;
  const signer = new SignatureV4({ service: 'appsync', region, credentials, sha256: Sha256, applyChecksum: false });
  const request = { method: 'POST', protocol: 'http:', hostname: host, path: publishPath, body };
  const signed = await signer.sign(
    { ...request, headers: { host, 'content-type': type } },
    { signingDate: new Date(at) },
  );
  const expected = Buffer.from(signed.headers.authorization ?? '');
  const given = Buffer.from(authorization);
  return expected.length === given.length && timingSafeEqual(expected, given);
};

const statuses: Readonly<Record<string, number>> = { UnauthorizedException: 401, LimitExceededError: 429 };

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

interface Publication {
  readonly channel: string;
  readonly events: readonly string[];
}

const publishTo = (hub: ChannelHub, keys: S3Keys, byTicket: PublishByTicket) => {
  const publish = async (request: IncomingMessage, response: ServerResponse, body: string): Promise<void> => {
    const { channel, events } = Object(parsed(body)) as Publication;
    if (await isSignedByService(request, body, keys)) hub.publish(channel, events);
    else {
      try {
        await byTicket(request.headers.authorization ?? '', String(channel), events);
      } catch (error) {
        if (!(error instanceof EventError)) throw error;
        const { errorType, message } = error;
        return respond(response, statuses[errorType] ?? 400, { errors: [{ errorType, message }] });
      }
    }
    const successful = events.map((_event, index) => ({ identifier: crypto.randomUUID(), index }));
    respond(response, 200, { successful, failed: [] });
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method !== 'POST' || request.url !== publishPath) {
      respond(response, 404, { errors: [] });
      return;
    }
    receiveBody(request, (body) => {
      if (body === 'too large') respond(response, 413, { errors: [] });
      else publish(request, response, String(body)).catch((error: Error) => request.destroy(error));
    });
  };
};

/** The token in the subprotocols of a connection. */
const ticketOf = ({ headers }: IncomingMessage): string => {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const [header = ''] = offered.flatMap((name) => (name.startsWith('header-') ? [name.slice('header-'.length)] : []));
  try {
    return offered.includes(protocol) ? ticketIn(JSON.parse(Buffer.from(header, 'base64url').toString())) : '';
  } catch {
    return '';
  }
};

/**
 * Emulates AppSync Events. Clients connect at `/event/realtime`. The service publishes at `/event`, signed with
 * `keys`, and clients publish in rooms. The function `authorize-channel` decides what a client may do, as in a
 * deployment.
 */
export const createEventApi = (
  invoke: Invoke,
  keys: S3Keys,
): { readonly server: Server; readonly close: () => Promise<void> } => {
  const hub = new ChannelHub();
  const authorize: Authorize = async (operation, authorizationToken, channel) => {
    const requestContext = { apiId: 'local', operation, ...(channel !== undefined && { channel }) };
    const decision: unknown = await invoke('jobs-authorize-channel', { authorizationToken, requestContext });
    return decision as Decision;
  };
  const publish = publisher(hub, authorize);
  const server = createServer(publishTo(hub, keys, publish));
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    handleProtocols: () => protocol,
  });
  server.on('upgrade', (request, socket, head) => {
    const refuse = (status: string): void => {
      socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    };
    socket.on('error', () => socket.destroy());
    if (request.url?.split('?', 1)[0] !== connectPath) return refuse('404 Not Found');
    authorize('EVENT_CONNECT', ticketOf(request)).then(
      ({ isAuthorized }) => {
        if (!isAuthorized) return refuse('401 Unauthorized');
        sockets.handleUpgrade(request, socket, head, (open) => serveConnection(open, hub, authorize, publish));
      },
      () => refuse('500 Internal Server Error'),
    );
  });
  const close = async (): Promise<void> => {
    for (const open of sockets.clients) open.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { server, close };
};
