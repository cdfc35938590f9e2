import type { CorsPolicy } from '../stacks/cors-policy.ts';

/** Header names and values in turn, as `writeHead` takes them. */
export type RawHeaders = readonly string[];

/** The gateway's own CORS answers to pages of an origin, which functions never send (contract 1, "CORS"). */
export interface Cors {
  /** What every answer carries, failures too; nothing that lets a page in whose origin is not allowed. */
  readonly onAnswer: (origin: string) => RawHeaders;
  readonly onPreflight: (origin: string) => RawHeaders;
}

const notAllowed: RawHeaders = ['vary', 'Origin'];

const matcher = (origins: readonly string[]) => {
  const exact = new Set(origins);
  const prefixes = origins.filter((origin) => origin.endsWith('*')).map((origin) => origin.slice(0, -1));
  return (origin: string): boolean => exact.has(origin) || prefixes.some((prefix) => origin.startsWith(prefix));
};

/** Compiles a policy into the headers that carry it out. */
export const corsOf = (policy: CorsPolicy): Cors => {
  const isAllowed = matcher(policy.origins);
  const allow = (origin: string, more: RawHeaders): RawHeaders =>
    isAllowed(origin)
      ? ['access-control-allow-origin', origin, 'access-control-allow-credentials', 'true', 'vary', 'Origin', ...more]
      : notAllowed;
  const onAnswer: RawHeaders = ['access-control-expose-headers', policy.exposedHeaders.join(',')];
  const onPreflight: RawHeaders = [
    'access-control-allow-methods',
    policy.methods.join(','),
    'access-control-allow-headers',
    policy.requestHeaders.join(','),
    'access-control-max-age',
    String(policy.maxAgeSeconds),
  ];
  return {
    onAnswer: (origin) => allow(origin, onAnswer),
    onPreflight: (origin) => allow(origin, onPreflight),
  };
};
