import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { pinnedLookup } from './pinned-lookup.ts';
import { isPermitted, isRestrictedHost, RestrictedHost } from './restricted-host.ts';

/** The port of an address, said or not. */
export const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'http:' ? 80 : 443));

/** Whether it is `https`, or `http` to what this machine was told to permit, which no deployed one is. */
export const hasProperScheme = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isPermitted(url.hostname, portOf(url)));

/**
 * Whether an address that a customer gave may be asked by its spelling: `https`, no user name or password, no restricted
 * host. By `http` only what tests, and whoever runs the service on their own machine, have permitted.
 */
export const isGuardedUrl = (text: string): boolean => {
  const url = URL.parse(text);
  if (url?.username !== '' || url.password !== '' || isRestrictedHost(url.hostname, portOf(url))) return false;
  return hasProperScheme(url);
};

export interface GuardedRequest {
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
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const ask = url.startsWith('https:') ? overHttps : overHttp;
  const options = { method, headers, lookup: pinnedLookup, agent: false, signal: AbortSignal.timeout(limitMs) };
  const request = ask(url, options, (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      reject(new Error(`The answer is larger than ${maxBytes} bytes`));
      request.destroy();
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    response.on('error', reject);
  });
  request.on('error', reject);
  request.end(body);
  return promise;
};
