import { portOf } from '../outbound/http.ts';
import type { Project } from './project.ts';

const isWeb = (url: URL): boolean => url.protocol === 'http:' || url.protocol === 'https:';

/** A host name or address as in an origin, with an optional port. */
const isHost = (host: string): boolean => {
  const url = URL.parse(`http://${host}`);
  return url !== null && /^[^\s\p{Cc}/?#@\\%*]+$/u.test(host) && url.hostname !== '';
};

/** IP addresses have no subdomains. */
const hasSubdomains = (host: string): boolean => isHost(host) && isHost(`www.${host}`);

/** An absolute HTTP(S) URL with origin and path only, because links and redirects are appended to it. */
export const isSiteUrl = (text: string): boolean => {
  const url = URL.parse(text);
  const isWhole = /^https?:\/\/[^/][^\s\p{Cc}\\?#]*$/iu.test(text);
  return url !== null && isWhole && url.username === '' && url.password === '';
};

/** `*`, an exact origin, a bare host, or `*.host`. */
export const isAllowedDomain = (entry: string): boolean => {
  if (entry === '*') return true;
  if (entry.includes('://')) {
    const url = URL.parse(entry);
    const [, host = ''] = entry.split('://');
    // Origins contain Punycode, but people enter Unicode.
    const isExact = url?.origin === entry.toLowerCase() || /[^\p{ASCII}]/u.test(host);
    return url !== null && isWeb(url) && isHost(host) && isExact;
  }
  return entry.startsWith('*.') ? hasSubdomains(entry.slice(2)) : isHost(entry);
};

export const projectSites = ({ siteUrl, allowedDomains }: Pick<Project, 'siteUrl' | 'allowedDomains'>): string[] => [
  ...(siteUrl === null ? [] : [siteUrl]),
  ...allowedDomains.filter((entry) => !entry.startsWith('*')),
];

/** URLs normalize hosts to lower case and Punycode. */
const matchesHost = (host: string, origin: URL, isSubdomain: boolean): boolean => {
  const hostname = URL.parse(`http://${host}`)?.hostname;
  if (hostname === undefined) return false;
  const port = /:(\d+)$/.exec(host)?.[1];
  if (port !== undefined && Number(port) !== portOf(origin)) return false;
  return isSubdomain ? origin.hostname.endsWith(`.${hostname}`) : origin.hostname === hostname;
};

const matches = (entry: string, origin: URL): boolean => {
  if (entry === '*') return true;
  if (entry.includes('://')) return URL.parse(entry)?.origin === origin.origin;
  return entry.startsWith('*.') ? matchesHost(entry.slice(2), origin, true) : matchesHost(entry, origin, false);
};

/**
 * Compares `Origin` with `allowedDomains`: exact origins, bare hosts on any port unless they name one, `*.host`, and
 * `*`, which also allows a missing origin.
 */
export const allowsOrigin = (allowedDomains: readonly string[], origin: string | undefined): boolean => {
  if (allowedDomains.includes('*')) return true;
  const parsed = origin === undefined ? null : URL.parse(origin);
  return parsed !== null && parsed.origin !== 'null' && allowedDomains.some((entry) => matches(entry, parsed));
};
