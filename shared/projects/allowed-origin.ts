const parse = (origin: string): URL | undefined => {
  try {
    return new URL(origin);
  } catch {
    return undefined;
  }
};

const matches = (entry: string, origin: URL): boolean => {
  if (entry === '*') return true;
  if (entry.includes('://')) return parse(entry)?.origin === origin.origin;
  const host = entry.toLowerCase();
  return host.startsWith('*.')
    ? origin.hostname.endsWith(host.slice(1))
    : origin.hostname === host || origin.host === host;
};

/**
 * Whether the `Origin` header passes a project's `allowedDomains`: exact origins, bare hosts, `*.host` for its subdomains;
 * `*` lets everything pass, a missing origin too.
 */
export const allowsOrigin = (allowedDomains: readonly string[], origin: string | undefined): boolean => {
  if (allowedDomains.includes('*')) return true;
  const parsed = origin === undefined ? undefined : parse(origin);
  return parsed !== undefined && parsed.origin !== 'null' && allowedDomains.some((entry) => matches(entry, parsed));
};
