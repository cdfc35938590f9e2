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
export interface UriOptions {
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

const refuse = (): never => {
  throw new UnsupportedUri();
};

const text: Read = (value) => (/^[^\p{Cc}]{1,128}$/u.test(value) ? value : refuse());
const flag: Read = (value) => value === 'true' || (value === 'false' ? false : refuse());
const count: Read = (value) => (/^\d{1,6}$/.test(value) ? Number(value) : refuse());
const oneOf =
  (names: readonly string[]): Read =>
  (value) =>
    (names.find((name) => name === value) as UriOptions[Name]) ?? refuse();

const heeded: Readonly<Record<Name, Read>> = {
  replicaSet: text,
  // `$external` is for mechanisms other than SCRAM.
  authSource: (value) => (value === '$external' ? refuse() : text(value)),
  authMechanism: oneOf(mechanisms),
  tls: flag,
  retryWrites: flag,
  retryReads: flag,
  // Without acknowledgement nobody would know whether a document was written.
  w: (value) => (value === 'majority' ? value : count(value) || refuse()),
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
export const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return refuse();
  }
};

/**
 * Reads the query of a database URI (contract 7): names without regard to case, each once, tuning dropped. Any other
 * option, or a value that an option cannot have → `UnsupportedUri`.
 */
export const parseUriOptions = (query: string): UriOptions => {
  const options = new Map<Name, UriOptions[Name]>();
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const [, key = '', value = ''] = /^([A-Za-z]+)=(.+)$/s.exec(pair) ?? refuse();
    if (dropped.has(key.toLowerCase())) continue;
    const name = names.get(key.toLowerCase()) ?? refuse();
    const read = heeded[name](decoded(value));
    // `tls` may be said twice, as `ssl`, but not both ways.
    if (options.has(name) && !(name === 'tls' && options.get(name) === read)) refuse();
    options.set(name, read);
  }
  return Object.fromEntries(options);
};
