import { randomBytes } from 'node:crypto';
import { type IncomingMessage, Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Document } from 'mongodb';
import { clock, dayMs, nowSeconds } from '../core/clock.ts';
import { version } from '../core/config.ts';
import { sign } from '../mail/event-signature.ts';
import { openGuarded } from '../outbound/http.ts';
import { RestrictedHost } from '../outbound/restricted-addresses.ts';
import { open, seal } from '../projects/sealed.ts';
import type { WebhookRecord } from './records.ts';

export interface Receipt {
  readonly status: number | null;
  readonly ms: number;
  readonly error?: string;
  readonly retryAfter?: number;
}

/** Covers connection, response and body. */
const limitMs = 15_000;
const maxBodyBytes = 64 * 1024;

const pool = { keepAlive: true, maxSockets: 50, maxFreeSockets: 5, timeout: 60_000 };
const agents = { 'http:': new PlainAgent(pool), 'https:': new TlsAgent(pool) };

const tooLate = 'There was no response within 15 s.';

/** For the developer's log; never reveals resolved addresses. */
const reasonOf = (error: unknown): string => {
  if (error instanceof RestrictedHost)
    return 'The host is private or reserved; a receiver must be on the public internet.';
  const code = String((error as NodeJS.ErrnoException).code ?? '');
  if (code === 'ENOTFOUND' || code === 'ENODATA') return 'The host has no address.';
  if (code === 'ECONNREFUSED') return 'The connection was rejected.';
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code)) return 'The TLS certificate is not valid.';
  if (/^HPE_/.test(code)) return 'The response is not valid HTTP.';
  return 'The connection was lost.';
};

const retryAfterOf = ({ headers }: IncomingMessage): number | undefined => {
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - clock.now()) / 1000;
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : undefined;
};

/** Reads up to 64 KiB so that the connection can be reused; then closes it. */
const takeBody = (response: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) response.destroy();
    });
    response.on('close', resolve).on('error', () => resolve());
  });

const isOverdue = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');

/** A kept-alive connection that the receiver closed; says nothing about the receiver. */
const isStale = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ECONNRESET';

/**
 * Any 2xx within 15 s is a success; redirects are not followed. The host's address is checked for this connection.
 * Never throws.
 */
export const postEvent = async (
  address: string,
  signed: Readonly<Record<string, string>>,
  body: string,
): Promise<Receipt> => {
  const start = performance.now();
  const taken = (): number => Math.round(performance.now() - start);
  const headers = {
    ...signed,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': `Basalt-Webhooks/${version}`,
  };
  try {
    const agent = agents[address.startsWith('http:') ? 'http:' : 'https:'];
    const post = () => openGuarded(address, { method: 'POST', headers, body, limitMs, agent });
    const response = await post().catch((error: unknown) => {
      if (isStale(error) && taken() < limitMs / 3) return post();
      throw error;
    });
    const ms = taken();
    await takeBody(response);
    const status = response.statusCode ?? 0;
    const retryAfter = retryAfterOf(response);
    const isRedirect = status >= 300 && status < 400;
    return {
      status,
      ms,
      ...(isRedirect && { error: 'Redirects are not followed. Set the address that the redirect leads to.' }),
      ...(retryAfter !== undefined && { retryAfter }),
    };
  } catch (error) {
    return { status: null, ms: taken(), error: isOverdue(error) ? tooLate : reasonOf(error) };
  }
};

export const isSuccess = ({ status }: Receipt): boolean => status !== null && status >= 200 && status < 300;

const prefix = 'whsec_';
const secretBytes = 24;
const doubleMs = dayMs;

/** `whsec_` and 24 random bytes in base64. */
export const newSecret = (): string => prefix + randomBytes(secretBytes).toString('base64');

const boundTo = (id: string): string => `${id}/webhook`;

export const sealSecret = (secret: string, id: string): Promise<string> => seal(secret, boundTo(id));

/** More rotations end the oldest secrets early. */
const mostReplaced = 4;

/** Computed by the database, so that concurrent rotations lose no secret. */
export const withReplaced = (): Document => {
  const now = new Date(clock.now());
  const own = { sealedSecret: '$sealedSecret', until: new Date(now.getTime() + doubleMs) };
  const left = { $filter: { input: { $ifNull: ['$replaced', []] }, cond: { $gt: ['$$this.until', now] } } };
  return { $slice: [{ $concatArrays: [[own], left] }, mostReplaced] };
};

/** The current secret and those replaced within a day. */
export const signingSecrets = async (webhook: WebhookRecord): Promise<readonly string[]> => {
  const id = boundTo(webhook._id.toHexString());
  const left = (webhook.replaced ?? []).filter(({ until }) => until.getTime() > clock.now());
  return Promise.all([webhook, ...left].map(({ sealedSecret }) => open(sealedSecret, id)));
};

/** Standard Webhooks headers with one signature per secret. */
export const signedWebhookHeaders = (
  secrets: readonly string[],
  id: string,
  body: string,
): Readonly<Record<string, string>> => {
  const time = String(nowSeconds());
  const signatures = secrets.map((secret) => sign(Buffer.from(secret.slice(prefix.length), 'base64'), id, time, body));
  return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures.join(' ') };
};
