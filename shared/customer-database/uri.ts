import { NODATA, NOTFOUND } from 'node:dns';
import { resolver } from '../outbound/lookup.ts';
import { bareHost, isRestrictedHost, RestrictedHost } from '../outbound/restricted-addresses.ts';

/** A URI that no customer's database may have: another scheme, an option that is not taken, or no URI at all. */
export class UnsupportedUri extends Error {
  override readonly name = 'UnsupportedUri';

  constructor() {
    super('The database URI is not supported');
  }
}

const readPreferences = ['primary', 'primaryPreferred', 'secondary', 'secondaryPreferred', 'nearest'] as const;
const readConcernLevels = ['local', 'majority', 'available', 'linearizable', 'snapshot'] as const;
const mechanisms = ['DEFAULT', 'SCRAM-SHA-1', 'SCRAM-SHA-256'] as const;

/** The options of a URI that are heeded, by the names that the driver knows them by. */
interface UriOptions {
  readonly replicaSet?: string;
  readonly authSource?: string;
  readonly authMechanism?: (typeof mechanisms)[number];
  readonly tls?: boolean;
  readonly retryWrites?: boolean;
  readonly retryReads?: boolean;
  readonly w?: number | 'majority';
  readonly journal?: boolean;
  readonly readPreference?: (typeof readPreferences)[number];
  readonly readConcernLevel?: (typeof readConcernLevels)[number];
  readonly maxStalenessSeconds?: number;
  readonly appName?: string;
  readonly directConnection?: boolean;
}

type Name = keyof UriOptions;
type Read = (value: string) => UriOptions[Name];

const refuseOption = (): never => {
  throw new UnsupportedUri();
};

const text: Read = (value) => (/^[^\p{Cc}]{1,128}$/u.test(value) ? value : refuseOption());
const flag: Read = (value) => value === 'true' || (value === 'false' ? false : refuseOption());
const count: Read = (value) => (/^\d{1,6}$/.test(value) ? Number(value) : refuseOption());
const oneOf =
  (names: readonly string[]): Read =>
  (value) =>
    (names.find((name) => name === value) as UriOptions[Name]) ?? refuseOption();

const heeded: Readonly<Record<Name, Read>> = {
  replicaSet: text,
  // `$external` is for mechanisms other than SCRAM.
  authSource: (value) => (value === '$external' ? refuseOption() : text(value)),
  authMechanism: oneOf(mechanisms),
  tls: flag,
  retryWrites: flag,
  retryReads: flag,
  // Without acknowledgement nobody would know whether a document was written.
  w: (value) => (value === 'majority' ? value : count(value) || refuseOption()),
  journal: flag,
  readPreference: oneOf(readPreferences),
  readConcernLevel: oneOf(readConcernLevels),
  maxStalenessSeconds: count,
  appName: text,
  directConnection: flag,
};

/** Options that are ignored: the service sets them itself, or they only tune the driver. */
const dropped: ReadonlySet<string> = new Set(
  [
    ...['compressors', 'connectTimeoutMS', 'serverSelectionTimeoutMS', 'maxPoolSize', 'minPoolSize', 'maxIdleTimeMS'],
    ...['maxConnecting', 'waitQueueTimeoutMS', 'wtimeoutMS', 'socketTimeoutMS', 'heartbeatFrequencyMS'],
    ...['localThresholdMS', 'zlibCompressionLevel', 'srvMaxHosts'],
  ].map((name) => name.toLowerCase()),
);

const names: ReadonlyMap<string, Name> = new Map([
  ...(Object.keys(heeded) as Name[]).map((name) => [name.toLowerCase(), name] as const),
  ['ssl', 'tls'],
]);

/** Percent-decodes a part of a URI; what cannot be decoded → `UnsupportedUri`. */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return refuseOption();
  }
};

/**
 * Reads the query of a database URI (contract 7): names without regard to case, each once, tuning dropped. Any other
 * option, or a value that an option cannot have → `UnsupportedUri`.
 */
const parseUriOptions = (query: string): UriOptions => {
  const options = new Map<Name, UriOptions[Name]>();
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const [, key = '', value = ''] = /^([A-Za-z]+)=(.+)$/s.exec(pair) ?? refuseOption();
    if (dropped.has(key.toLowerCase())) continue;
    const name = names.get(key.toLowerCase()) ?? refuseOption();
    const read = heeded[name](decoded(value));
    // `tls` may be said twice, as `ssl`, but not both ways.
    if (options.has(name) && !(name === 'tls' && options.get(name) === read)) refuseOption();
    options.set(name, read);
  }
  return Object.fromEntries(options);
};

/** A server to begin with; members of its replica set are found from there. */
export interface Seed {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** A customer's database URI, taken apart. */
export interface DatabaseUri {
  /** `mongodb+srv`: its one host names the servers in the DNS, and its port means nothing. */
  readonly srv: boolean;
  readonly seeds: readonly Seed[];
  readonly credentials?: { readonly username: string; readonly password: string };
  /** The database that holds the documents. */
  readonly database: string;
  /** The one that holds the account, where neither an option nor the DNS names it. */
  readonly authDatabase: string;
  readonly options: UriOptions;
}

const defaultPort = 27_017;
const maxSeeds = 50;

/** The database of all drivers where a URI names none. */
const defaultDatabase = 'test';

const refuse = (): never => {
  throw new UnsupportedUri();
};

const shape =
  /^(?<scheme>mongodb(?:\+srv)?):\/\/(?:(?<account>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^@/?#]*))?(?:\?(?<query>[^#?]*))?$/;

/** `host`, `host:port` or `[address]:port`; a restricted host → `RestrictedHost`. */
export const parseSeed = (text: string): Seed => {
  const [, host = '', digits] = /^(\[[^[\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? refuse();
  const port = digits === undefined ? defaultPort : Number(digits);
  if (port < 1 || port > 65_535) refuse();
  if (isRestrictedHost(host, port)) throw new RestrictedHost();
  return { host: bareHost(host).toLowerCase(), port };
};

/** A seed as URIs and the driver write it. */
export const seedText = ({ host, port }: Seed): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

const parseAccount = (account: string): NonNullable<DatabaseUri['credentials']> => {
  const [, name = '', password = ''] = /^([^:]+)(?::([^:]*))?$/.exec(account) ?? refuse();
  return { username: decoded(name), password: decoded(password) };
};

/** A name that MongoDB takes; `local` and `config` are the servers' own. */
const requireName = (name: string): string =>
  /^[^\p{Cc}/\\. "$*<>:|?]{1,63}$/u.test(name) && !['local', 'config'].includes(name) ? name : refuse();

/**
 * Takes a customer's URI apart (contract 7): `mongodb://` with one or several hosts, `mongodb+srv://` with one. What is
 * no such URI, or has an option that is not taken → `UnsupportedUri`; a host that is restricted by its spelling →
 * `RestrictedHost`. Whole URIs never go to the driver, which would read more into them. `admin` in the path says only
 * where the account is.
 */
export const parseDatabaseUri = (text: string): DatabaseUri => {
  if (text.length > 4000 || /[\p{Cc}\s]/u.test(text)) refuse();
  const { scheme, account, hosts = '', path = '', query = '' } = shape.exec(text)?.groups ?? refuse();
  const srv = scheme === 'mongodb+srv';
  const places = hosts.split(',');
  if (places.length > (srv ? 1 : maxSeeds) || (srv && hosts.includes(':'))) refuse();
  const seeds = places.map(parseSeed);
  const options = parseUriOptions(query);
  if (options.directConnection && (srv || seeds.length > 1)) refuse();
  const named = path === '' ? undefined : requireName(decoded(path));
  return {
    srv,
    seeds,
    ...(account === undefined ? {} : { credentials: parseAccount(account) }),
    database: named === undefined || named === 'admin' ? defaultDatabase : named,
    authDatabase: named ?? 'admin',
    options,
  };
};

/** The hosts of a URI and nothing else of it, for people to tell which database it is. */
export const redactedHost = ({ srv, seeds }: DatabaseUri): string =>
  seeds.map((seed) => (srv ? seed.host : seedText(seed))).join(',');

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
