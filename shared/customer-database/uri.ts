import { NODATA, NOTFOUND } from 'node:dns';
import { bareHost, isRestrictedHost, RestrictedHost, resolver } from '../outbound/restricted-addresses.ts';

/** Not a URI, another scheme, or an unsupported option. */
export class UnsupportedUri extends Error {
  override readonly name = 'UnsupportedUri';

  constructor() {
    super('The database URI is not supported');
  }
}

const readPreferences = ['primary', 'primaryPreferred', 'secondary', 'secondaryPreferred', 'nearest'] as const;
const readConcernLevels = ['local', 'majority', 'available', 'linearizable', 'snapshot'] as const;
const mechanisms = ['DEFAULT', 'SCRAM-SHA-1', 'SCRAM-SHA-256'] as const;

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
  // Writes must be acknowledged.
  w: (value) => (value === 'majority' ? value : count(value) || refuseOption()),
  journal: flag,
  readPreference: oneOf(readPreferences),
  readConcernLevel: oneOf(readConcernLevels),
  maxStalenessSeconds: count,
  appName: text,
  directConnection: flag,
};

/** Ignored options: the service sets them itself, or they only tune the driver. */
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

/** Throws `UnsupportedUri`. */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return refuseOption();
  }
};

/** Names are case-insensitive and unique; ignored options are dropped. Throws `UnsupportedUri`. */
const parseUriOptions = (query: string): UriOptions => {
  const options = new Map<Name, UriOptions[Name]>();
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const [, key = '', value = ''] = /^([A-Za-z]+)=(.+)$/s.exec(pair) ?? refuseOption();
    if (dropped.has(key.toLowerCase())) continue;
    const name = names.get(key.toLowerCase()) ?? refuseOption();
    const read = heeded[name](decoded(value));
    // `tls` and `ssl` may both occur if they agree.
    if (options.has(name) && !(name === 'tls' && options.get(name) === read)) refuseOption();
    options.set(name, read);
  }
  return Object.fromEntries(options);
};

/** Members of the replica set are discovered from here. */
export interface Seed {
  readonly host: string;
  readonly port: number;
}

export interface DatabaseUri {
  /** `mongodb+srv`: the single host is looked up in DNS; its port is meaningless. */
  readonly srv: boolean;
  readonly seeds: readonly Seed[];
  readonly credentials?: { readonly username: string; readonly password: string };
  readonly database: string;
  /** Used if neither an option nor DNS names one. */
  readonly authDatabase: string;
  readonly options: UriOptions;
}

const defaultPort = 27_017;
const maxSeeds = 50;

const defaultDatabase = 'test';

const refuse = (): never => {
  throw new UnsupportedUri();
};

const shape =
  /^(?<scheme>mongodb(?:\+srv)?):\/\/(?:(?<account>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^@/?#]*))?(?:\?(?<query>[^#?]*))?$/;

export const parseSeed = (text: string): Seed => {
  const [, host = '', digits] = /^(\[[^[\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? refuse();
  const port = digits === undefined ? defaultPort : Number(digits);
  if (port < 1 || port > 65_535) refuse();
  if (isRestrictedHost(host, port)) throw new RestrictedHost();
  return { host: bareHost(host).toLowerCase(), port };
};

export const seedText = ({ host, port }: Seed): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

const parseAccount = (account: string): NonNullable<DatabaseUri['credentials']> => {
  const [, name = '', password = ''] = /^([^:]+)(?::([^:]*))?$/.exec(account) ?? refuse();
  return { username: decoded(name), password: decoded(password) };
};

/** `local` and `config` belong to the server. */
const requireName = (name: string): string =>
  /^[^\p{Cc}/\\. "$*<>:|?]{1,63}$/u.test(name) && !['local', 'config'].includes(name) ? name : refuse();

/**
 * Parses `mongodb://` and `mongodb+srv://` URIs. Throws `UnsupportedUri`, and `RestrictedHost` for restricted literals.
 * The driver never gets the whole URI, because it supports more. `admin` in the path only names the authentication
 * database.
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

export const redactedHost = ({ srv, seeds }: DatabaseUri): string =>
  seeds.map((seed) => (srv ? seed.host : seedText(seed))).join(',');

/** Options from DNS apply if the URI lacks them. */
export interface Target {
  readonly seeds: readonly Seed[];
  readonly options: UriOptions;
}

/** Options that TXT records may set. */
const fromText: ReadonlySet<string> = new Set(['authSource', 'replicaSet']);

/** SRV targets must be in the same domain, or a DNS operator could redirect elsewhere. */
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
 * Resolves `mongodb+srv` in DNS and checks the spelling of each target (`RestrictedHost`). Rejects with the error of
 * `node:dns`. Every connection checks the addresses themselves again.
 */
export const resolveSeeds = async ({ srv, seeds, options }: DatabaseUri): Promise<Target> => {
  const [first] = seeds;
  if (!srv || !first) return { seeds, options };
  const [found, more] = await Promise.all([findSeeds(first.host), findOptions(first.host)]);
  return { seeds: found, options: { tls: true, ...more, ...options } };
};
