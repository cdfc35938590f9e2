import { portOf } from '../clients/net/guarded-request.ts';
import type { Project } from './project.ts';

/** The sites whose pages a project names as its own, one by one: its site URL and its exact allowed domains. */
export const ownSites = ({ siteUrl, allowedDomains }: Pick<Project, 'siteUrl' | 'allowedDomains'>): string[] => [
  ...(siteUrl === null ? [] : [siteUrl]),
  ...allowedDomains.filter((entry) => !entry.startsWith('*')),
];

/** A host as an entry names it; a URL writes it as browsers do: in lower case, and other alphabets as `xn--…`. */
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
 * Whether the `Origin` header passes a project's `allowedDomains`: exact origins, bare hosts, `*.host` for its
 * subdomains, a host on any port unless it names one; `*` lets everything pass, a missing origin too.
 */
export const allowsOrigin = (allowedDomains: readonly string[], origin: string | undefined): boolean => {
  if (allowedDomains.includes('*')) return true;
  const parsed = origin === undefined ? null : URL.parse(origin);
  return parsed !== null && parsed.origin !== 'null' && allowedDomains.some((entry) => matches(entry, parsed));
};
