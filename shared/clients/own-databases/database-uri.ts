import { bareHost, isRestrictedHost, RestrictedHost } from '../net/restricted-host.ts';
import { decoded, parseUriOptions, UnsupportedUri, type UriOptions } from './uri-options.ts';

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
