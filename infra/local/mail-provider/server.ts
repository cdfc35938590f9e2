import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as bodyText } from 'node:stream/consumers';
import { type Account, Accounts, audienceCalls, contactCalls } from './accounts.ts';
import { type Answer, ok, ProviderError, type Request } from './answer.ts';
import { Broadcasts } from './broadcasts.ts';
import { Mails } from './mails.ts';
import { Webhooks, type WebhookTarget } from './webhooks.ts';

interface MailProviderOptions {
  /** Where it will be reached. */
  readonly origin: string;
  /** The emulator behind it, which keeps mails and shows the inbox. */
  readonly emulator: string;
  readonly webhook: WebhookTarget;
}

type Call = (account: Account, request: Request) => Answer | Promise<Answer>;
type Row = readonly [method: string, path: RegExp, call: Call];

const audienceRows = (plural: string, object: 'audience' | 'segment'): Row[] => {
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

const broadcastRows = (broadcasts: Broadcasts): Row[] => [
  ['GET', /^\/broadcasts$/, (account, request) => broadcasts.list(account, request)],
  ['POST', /^\/broadcasts$/, (account, request) => broadcasts.create(account, request)],
  ['GET', /^\/broadcasts\/([^/]+)$/, (account, request) => broadcasts.show(account, request)],
  ['DELETE', /^\/broadcasts\/([^/]+)$/, (account, request) => broadcasts.remove(account, request)],
  ['POST', /^\/broadcasts\/([^/]+)\/send$/, (account, request) => broadcasts.send(account, request)],
];

const readObject = (text: string): Request['body'] => {
  const value: unknown = text === '' ? {} : JSON.parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Request['body']) : {};
};

/** The key of a request; a key that begins with `re_invalid` is refused, to try out what happens then. */
const keyOf = ({ headers }: IncomingMessage): string => {
  const key = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1];
  if (key === undefined) throw new ProviderError(401, 'missing_api_key', 'Missing API Key');
  if (key.startsWith('re_invalid')) throw new ProviderError(401, 'validation_error', 'API key is invalid');
  return key;
};

const emailsPath = /^\/emails(\/batch)?$/;

/**
 * The mail provider on this machine: what the emulator lacks (contacts that change, broadcasts, accounts by key, events
 * and failures at will), with the emulator behind it for mails and inbox. What it holds is gone when it ends.
 */
export const createMailProvider = ({ origin, emulator, webhook }: MailProviderOptions): Server => {
  const accounts = new Accounts();
  const mails = new Mails(emulator, new Webhooks(webhook));
  const rows = [
    ...audienceRows('audiences', 'audience'),
    ...audienceRows('segments', 'segment'),
    ...broadcastRows(new Broadcasts(accounts, mails, origin)),
  ];

  /** One click in a mail's header, or the link in its text. */
  const unsubscribe = (contactId: string): Answer => {
    for (const { audiences } of accounts.all()) {
      for (const { contacts } of audiences.values()) {
        const contact = contacts.get(contactId);
        if (contact) contacts.set(contactId, { ...contact, unsubscribed: true });
      }
    }
    return ok({ message: 'You will get no more mails of this list.' });
  };

  const answer = async (request: IncomingMessage, url: URL, text: string): Promise<Answer | undefined> => {
    const { method = 'GET' } = request;
    const { pathname } = url;
    if (method === 'POST' && emailsPath.test(pathname)) {
      const idempotencyKey = request.headers['idempotency-key'];
      const path = pathname === '/emails' ? pathname : '/emails/batch';
      if (request.headers.authorization !== undefined) keyOf(request);
      return mails.take(path, text, typeof idempotencyKey === 'string' ? idempotencyKey : undefined);
    }
    const to = url.searchParams.get('to');
    if (method === 'GET' && pathname === '/emails' && to !== null) return mails.listTo(to);
    const shown = /^\/emails\/([^/]+)$/.exec(pathname)?.[1];
    if (method === 'GET' && shown !== undefined) return mails.show(decodeURIComponent(shown));
    const contactId = /^\/unsubscribe\/([^/]+)$/.exec(pathname)?.[1];
    if (contactId !== undefined) return unsubscribe(contactId);
    for (const [wanted, path, call] of rows) {
      const match = wanted === method ? path.exec(pathname) : null;
      if (!match) continue;
      const key = keyOf(request);
      const params = match.slice(1).map(decodeURIComponent);
      return call(accounts.of(key), { key, params, query: url.searchParams, body: readObject(text) });
    }
    return undefined;
  };

  /** Everything else, such as the inbox, is the emulator's own. */
  const passOn = async (request: IncomingMessage, response: ServerResponse, text: string): Promise<void> => {
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
    const found = await answer(request, new URL(request.url ?? '/', origin), text).catch((error: unknown) => {
      if (error instanceof ProviderError) return error.answer;
      throw error;
    });
    if (!found) return passOn(request, response, text);
    response
      .writeHead(found.status, { 'content-type': 'application/json', ...found.headers })
      .end(JSON.stringify(found.body));
  };

  return createServer((request, response) => {
    serve(request, response).catch(() => {
      const body = { statusCode: 500, name: 'application_error', message: 'An unexpected error occurred.' };
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
};
