import { type IncomingMessage, request as overHttp, type RequestOptions } from 'node:http';
import { request as overHttps } from 'node:https';
import { boundedText } from '../core/text.ts';
import { checkedAddresses, pinnedLookup } from './lookup.ts';
import { canPermit, isPermitted, isRestrictedHost, RestrictedHost } from './restricted-addresses.ts';

/** The port of an address, said or not. */
export const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'http:' ? 80 : 443));

/** Whether it is `https`, or `http` to what this machine was told to permit, which no deployed one is. */
const hasProperScheme = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isPermitted(url.hostname, portOf(url)));

/**
 * Whether an address that a customer gave may be asked by its spelling: `https`, no user name or password, no
 * restricted host. By `http` only what tests, and whoever runs the service on their own machine, have permitted.
 */
export const isGuardedUrl = (text: string): boolean => {
  const url = URL.parse(text);
  if (url?.username !== '' || url.password !== '' || isRestrictedHost(url.hostname, portOf(url))) return false;
  return hasProperScheme(url);
};

/** What is said of an address in `field` that is, or leads, where no customer may go. */
export const onPrivateHost = (field: string): string =>
  `${field} must be a host on the public internet; this one is private or reserved.`;

/** For `npm start` alone: how an address of this machine or network is permitted. */
const howToPermit = (url: URL): string => {
  if (!canPermit() || !isRestrictedHost(url.hostname)) return '';
  const address = `${url.hostname === 'localhost' ? '127.0.0.1' : url.hostname}:${portOf(url)}`;
  return ` Locally, restart with PERMITTED_ADDRESSES=${address} npm start, and use http://${address}.`;
};

/**
 * Refuses the address in `field` of what a customer sent by `refuse`, unless it is `https` on a host of the public
 * internet, every address of which is checked (contract 7); user names, queries and the like are the caller's to judge.
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

/**
 * The head of the answer to one request, whose body is still to be read; rejects where none comes, as when the other
 * side changes to another protocol, of which Node says nothing but that the connection is closed.
 */
export const answerTo = (url: URL, options: RequestOptions, body: string | undefined): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? overHttps : overHttp)(url, options);
    const broken = () => reject(new Error('The connection broke off'));
    request.on('response', resolve).on('error', reject).on('close', broken);
    request.end(body);
  });

interface GuardedRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly limitMs: number;
  readonly maxBytes: number;
}

/**
 * One request to an address that a customer gave: what its name leads to is checked as it connects, redirects are not
 * followed. A restricted address is `RestrictedHost`; none, a late or a larger answer rejects.
 */
export const guardedRequest = async (
  url: string,
  { method = 'GET', headers, body, limitMs, maxBytes }: GuardedRequest,
): Promise<{ readonly status: number; readonly text: string }> => {
  if (!isGuardedUrl(url)) throw new RestrictedHost();
  const options = { method, headers, lookup: pinnedLookup, agent: false, signal: AbortSignal.timeout(limitMs) };
  const response = await answerTo(new URL(url), options, body);
  const text = await boundedText(response, maxBytes);
  if (text === undefined) throw new Error(`The answer is larger than ${maxBytes} bytes`);
  return { status: response.statusCode ?? 0, text };
};
