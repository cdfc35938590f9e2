import { type Agent, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { boundedText } from '../core/text.ts';
import {
  canPermit,
  checkedAddresses,
  isPermitted,
  isRestrictedHost,
  pinnedLookupTo,
  RestrictedHost,
} from './restricted-addresses.ts';

/** The port of an address, also if it is the default one. */
export const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'http:' ? 80 : 443));

/** True for `https`, and for `http` to an address that this machine permits. No deployment permits any. */
const hasProperScheme = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isPermitted(url.hostname, portOf(url)));

/** True if a customer's address may be requested, judged by its spelling: `https`, no user name, no restricted host. */
export const isGuardedUrl = (text: string): boolean => {
  const url = URL.parse(text);
  if (url?.username !== '' || url.password !== '' || isRestrictedHost(url.hostname, portOf(url))) return false;
  return hasProperScheme(url);
};

/** The error message for an address in `field` that is private or resolves to a private one. */
export const onPrivateHost = (field: string): string =>
  `${field} must be a host on the public internet; this one is private or reserved.`;

/** Only with `npm start`: how to permit an address of this machine or network. */
const howToPermit = (url: URL): string => {
  if (!canPermit() || !isRestrictedHost(url.hostname, portOf(url))) return '';
  const address = `${url.hostname === 'localhost' ? '127.0.0.1' : url.hostname}:${portOf(url)}`;
  return ` Locally, restart with PERMITTED_ADDRESSES=${address} npm start, and use http://${address}.`;
};

/**
 * Throws what `refuse` returns unless the address in `field` is `https` and every IP address of its host is public
 * (contract 7). The caller checks user names and queries.
 */
export const requirePublic = async (
  url: URL,
  field: string,
  refuse: (field: string, message: string, cause?: unknown) => Error,
): Promise<void> => {
  if (!hasProperScheme(url))
    throw refuse(field, `${field} must begin with https://${howToPermit(url) && `.${howToPermit(url)}`}`);
  try {
    await checkedAddresses(url.hostname, portOf(url));
  } catch (error) {
    throw error instanceof RestrictedHost
      ? refuse(field, onPrivateHost(field) + howToPermit(url), error)
      : refuse(field, `${field} could not be reached: its host has no address.`, error);
  }
};

interface OutgoingRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** An upgrade to another protocol only closes the connection, so `close` rejects too. */
const responseTo = (url: URL, { body, ...options }: OutgoingRequest & { readonly signal: AbortSignal }) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const request = (url.protocol === 'https:' ? overHttps : overHttp)(url, options);
    const broken = () => reject(new Error('The connection broke off'));
    request.on('response', resolve).on('error', reject).on('close', broken);
    request.end(body);
  });

/**
 * Sends a request to a customer's address and returns the response, its body unread. All requests to customers go
 * through here: the IP addresses are checked as the connection is made, and redirects are not followed. A restricted
 * host throws `RestrictedHost`.
 */
export const openGuarded = async (
  address: string,
  {
    limitMs,
    agent = false,
    ...request
  }: OutgoingRequest & { readonly limitMs: number; readonly agent?: Agent | false },
): Promise<IncomingMessage> => {
  if (!isGuardedUrl(address)) throw new RestrictedHost();
  const url = new URL(address);
  const options = { agent, lookup: pinnedLookupTo(portOf(url)), signal: AbortSignal.timeout(limitMs) };
  return responseTo(url, { ...request, ...options });
};

interface BoundedRequest extends OutgoingRequest {
  readonly maxBytes: number;
}

export class TooLarge extends Error {
  constructor(maxBytes: number) {
    super(`The response is larger than ${maxBytes} bytes`);
  }
}

/** Sends a request to a customer's address and reads the response. */
export const guardedRequest = async (
  address: string,
  { maxBytes, ...request }: BoundedRequest & { readonly limitMs: number },
): Promise<{ readonly status: number; readonly text: string }> => {
  const response = await openGuarded(address, request);
  const text = await boundedText(response, maxBytes);
  if (text === undefined) throw new TooLarge(maxBytes);
  return { status: response.statusCode ?? 0, text };
};

/** Sends a request to an address that the operator or our code gives. A redirect is an error. */
export const trustedRequest = async (
  address: string,
  { maxBytes, method = 'GET', body, ...request }: BoundedRequest & { readonly signal: AbortSignal },
): Promise<{ readonly status: number; readonly text: string }> => {
  const response = await fetch(address, { ...request, method, body: body ?? null, redirect: 'error' });
  const text = await boundedText(response.body, maxBytes);
  if (text === undefined) throw new TooLarge(maxBytes);
  return { status: response.status, text };
};
