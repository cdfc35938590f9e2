import { NODATA, NOTFOUND } from 'node:dns';
import { resolver } from '../net/resolver.ts';
import { isRestrictedHost, RestrictedHost } from '../net/restricted-host.ts';
import type { DatabaseUri, Seed } from './database-uri.ts';
import { parseUriOptions, UnsupportedUri, type UriOptions } from './uri-options.ts';

/** Where to connect to, and what the DNS said besides: options that count where the URI does not have them. */
export interface Target {
  readonly seeds: readonly Seed[];
  readonly options: UriOptions;
}

/** What a TXT record may say. */
const fromText: ReadonlySet<string> = new Set(['authSource', 'replicaSet']);

/** SRV targets must be in the domain of the name looked up, or whoever controls the DNS could redirect elsewhere. */
const isBeside = (target: string, name: string): boolean => {
  const labels = name.split('.');
  const domain = (labels.length < 3 ? labels : labels.slice(1)).join('.');
  return target.endsWith(`.${domain}`) && target.split('.').length > domain.split('.').length;
};

const findSeeds = async (name: string): Promise<readonly Seed[]> => {
  const services = await resolver().services(`_mongodb._tcp.${name}`);
  return services.map(({ name: target, port }) => {
    const host = target.toLowerCase().replace(/\.$/, '');
    if (isRestrictedHost(host, port)) throw new RestrictedHost();
    if (!isBeside(host, name)) throw new UnsupportedUri();
    return { host, port };
  });
};

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === NODATA || error.code === NOTFOUND);

const findOptions = async (name: string): Promise<UriOptions> => {
  const texts = await resolver()
    .texts(name)
    .catch((error: unknown) => {
      if (isAbsent(error)) return [];
      throw error;
    });
  if (texts.length > 1) throw new UnsupportedUri();
  const options = parseUriOptions(texts[0]?.join('') ?? '');
  if (Object.keys(options).some((option) => !fromText.has(option))) throw new UnsupportedUri();
  return options;
};

/**
 * The servers that a URI leads to. Those of `mongodb+srv` come from the DNS, each one checked by its spelling
 * (`RestrictedHost`); without a record it rejects with the error of `node:dns`. Where names lead is not looked at here:
 * every connection resolves and checks them anew.
 */
export const resolveSeeds = async ({ srv, seeds, options }: DatabaseUri): Promise<Target> => {
  const [first] = seeds;
  if (!srv || !first) return { seeds, options };
  const [found, more] = await Promise.all([findSeeds(first.host), findOptions(first.host)]);
  return { seeds: found, options: { tls: true, ...more, ...options } };
};
