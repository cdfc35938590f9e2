import type { CorsPolicy } from '../stacks/cors-policy.ts';

/** Names and values in turn, as `writeHead` accepts them. */
export type RawHeaders = readonly string[];

/** The CORS headers that the gateway adds for a page's origin; functions send none (contract 1, "CORS"). */
export interface Cors {
  /** For every response, errors included. */
  readonly onResponse: (origin: string) => RawHeaders;
  readonly onPreflight: (origin: string) => RawHeaders;
}

const notAllowed: RawHeaders = ['vary', 'Origin'];

const matcher = (origins: readonly string[]) => {
  const exact = new Set(origins);
  const prefixes = origins.filter((origin) => origin.endsWith('*')).map((origin) => origin.slice(0, -1));
  return (origin: string): boolean => exact.has(origin) || prefixes.some((prefix) => origin.startsWith(prefix));
};

export const corsOf = (policy: CorsPolicy): Cors => {
  const isAllowed = matcher(policy.origins);
  const allow = (origin: string, more: RawHeaders): RawHeaders =>
    isAllowed(origin)
      ? ['access-control-allow-origin', origin, 'access-control-allow-credentials', 'true', 'vary', 'Origin', ...more]
      : notAllowed;
  const onResponse: RawHeaders = ['access-control-expose-headers', policy.exposedHeaders.join(',')];
  const onPreflight: RawHeaders = [
    'access-control-allow-methods',
    policy.methods.join(','),
    'access-control-allow-headers',
    policy.requestHeaders.join(','),
    'access-control-max-age',
    String(policy.maxAgeSeconds),
  ];
  return {
    onResponse: (origin) => allow(origin, onResponse),
    onPreflight: (origin) => allow(origin, onPreflight),
  };
};
