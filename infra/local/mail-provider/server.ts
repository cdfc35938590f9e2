import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as bodyText } from 'node:stream/consumers';
import { type Account, Accounts, audienceCalls, contactCalls } from './accounts.ts';
import { Broadcasts } from './broadcasts.ts';
import { Mails, Webhooks, type WebhookTarget } from './mails.ts';
import { ok, ProviderError, type Reply, type Request } from './reply.ts';

interface MailProviderOptions {
  /** Its own address. */
  readonly origin: string;
  /** The emulator behind it, which stores emails and shows the inbox. */
  readonly emulator: string;
  readonly webhook: WebhookTarget;
}

type Handler = (account: Account, request: Request) => Reply | Promise<Reply>;
type Route = readonly [method: string, path: RegExp, handler: Handler];

const audienceRoutes = (plural: string, object: 'audience' | 'segment'): Route[] => {
  const calls = audienceCalls(object);
  const contacts = new RegExp(`^/${plural}/([^/]+)/contacts$`);
  const contact = new RegExp(`^/${plural}/([^/]+)/contacts/([^/]+)$`);
  return [
    ['GET', new RegExp(`^/${plural}$`), calls.list],
    ['POST', new RegExp(`^/${plural}$`), calls.create],
    ['DELETE', new RegExp(`^/${plural}/([^/]+)$`), calls.remove],
    ['GET', contacts, contactCalls.list],
    ['POST', contacts, contactCalls.create],
    ['PATCH', contact, contactCalls.update],
    ['DELETE', contact, contactCalls.remove],
  ];
};

const broadcastRoutes = (broadcasts: Broadcasts): Route[] => [
  ['GET', /^\/broadcasts$/, (account, request) => broadcasts.list(account, request)],
  ['POST', /^\/broadcasts$/, (account, request) => broadcasts.create(account, request)],
  ['GET', /^\/broadcasts\/([^/]+)$/, (account, request) => broadcasts.show(account, request)],
  ['DELETE', /^\/broadcasts\/([^/]+)$/, (account, request) => broadcasts.remove(account, request)],
  ['POST', /^\/broadcasts\/([^/]+)\/send$/, (account, request) => broadcasts.send(account, request)],
];

const parseObject = (text: string): Request['body'] => {
  const value: unknown = text === '' ? {} : JSON.parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Request['body']) : {};
};

/** Returns the API key. Rejects keys that begin with `re_invalid`, so that developers can test that case. */
const keyOf = ({ headers }: IncomingMessage): string => {
  const key = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1];
  if (key === undefined) throw new ProviderError(401, 'missing_api_key', 'Missing API Key');
  if (key.startsWith('re_invalid')) throw new ProviderError(401, 'validation_error', 'API key is invalid');
  return key;
};

const emailsPath = /^\/emails(\/batch)?$/;

/**
 * Fakes the mail provider. The emulator behind it stores emails and shows the inbox; this adds what it lacks: accounts
 * per API key, changes of contacts, broadcasts, events, and test addresses. All data are lost when it stops.
 */
export const createMailProvider = ({ origin, emulator, webhook }: MailProviderOptions): Server => {
  const accounts = new Accounts();
  const mails = new Mails(emulator, new Webhooks(webhook));
  const routes = [
    ...audienceRoutes('audiences', 'audience'),
    ...audienceRoutes('segments', 'segment'),
    ...broadcastRoutes(new Broadcasts(accounts, mails, origin)),
  ];

  /** For the `List-Unsubscribe` header and for the link in the text. */
  const unsubscribe = (contactId: string): Reply => {
    for (const { audiences } of accounts.all()) {
      for (const { contacts } of audiences.values()) {
        const contact = contacts.get(contactId);
        if (contact) contacts.set(contactId, { ...contact, unsubscribed: true });
      }
    }
    return ok({ message: 'You will receive no more emails of this list.' });
  };

  const handle = async (request: IncomingMessage, url: URL, text: string): Promise<Reply | undefined> => {
    const { method = 'GET' } = request;
    const { pathname } = url;
    if (method === 'POST' && emailsPath.test(pathname)) {
      const idempotencyKey = request.headers['idempotency-key'];
      const path = pathname === '/emails' ? pathname : '/emails/batch';
      if (request.headers.authorization !== undefined) keyOf(request);
      return mails.send(path, text, typeof idempotencyKey === 'string' ? idempotencyKey : undefined);
    }
    const to = url.searchParams.get('to');
    if (method === 'GET' && pathname === '/emails' && to !== null) return mails.listTo(to);
    const shown = /^\/emails\/([^/]+)$/.exec(pathname)?.[1];
    if (method === 'GET' && shown !== undefined) return mails.show(decodeURIComponent(shown));
    const contactId = /^\/unsubscribe\/([^/]+)$/.exec(pathname)?.[1];
    if (contactId !== undefined) return unsubscribe(contactId);
    for (const [routeMethod, path, handler] of routes) {
      const match = routeMethod === method ? path.exec(pathname) : null;
      if (!match) continue;
      const key = keyOf(request);
      const params = match.slice(1).map(decodeURIComponent);
      return handler(accounts.of(key), { key, params, query: url.searchParams, body: parseObject(text) });
    }
    return undefined;
  };

  /** For everything else, such as the inbox. */
  const forward = async (request: IncomingMessage, response: ServerResponse, text: string): Promise<void> => {
    const inner = await fetch(`${emulator}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
      redirect: 'manual',
      ...(text !== '' && { body: text }),
    });
    const location = inner.headers.get('location');
    response
      .writeHead(inner.status, {
        'content-type': inner.headers.get('content-type') ?? 'text/plain',
        ...(location && { location }),
      })
      .end(Buffer.from(await inner.arrayBuffer()));
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyText(request);
    const reply = await handle(request, new URL(request.url ?? '/', origin), text).catch((error: unknown) => {
      if (error instanceof ProviderError) return error.reply;
      throw error;
    });
    if (!reply) return forward(request, response, text);
    response
      .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
      .end(JSON.stringify(reply.body));
  };

  return createServer((request, response) => {
    serve(request, response).catch(() => {
      const body = { statusCode: 500, name: 'application_error', message: 'An unexpected error occurred.' };
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
};
