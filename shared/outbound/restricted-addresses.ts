import { promises as dns, NODATA } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Ranges outside the public internet, and those that map to them (contract 7). */
const ranges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32',
  '2001:10::/28',
  '2001:20::/28',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** One list per family: in a common list, the range of mapped addresses would match every IPv4 address. */
const listsOf = () => {
  const lists = { 4: new BlockList(), 6: new BlockList() } as const;
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    const family = isIP(network) === 4 ? 4 : 6;
    lists[family].addSubnet(network, Number(prefix), `ipv${family}`);
  }
  return lists;
};

/** Created at first use, because most processes need none. */
let restricted: ReturnType<typeof listsOf> | undefined;

/** The family of an IP address without a zone; 0 for other texts. */
const addressFamily = (text: string): 0 | 4 | 6 => {
  const family = text.includes('%') ? 0 : isIP(text);
  return family === 4 || family === 6 ? family : 0;
};

/** True for a restricted IP address, and for texts that are not IP addresses. */
const isRestrictedAddress = (text: string): boolean => {
  const family = addressFamily(text);
  if (family === 0) return true;
  restricted ??= listsOf();
  return restricted[family].check(text, `ipv${family}`);
};

/** Set by tests and `npm start`, never in a deployment. */
const permission = Symbol.for('basalt.permitted-addresses');

const permitted = (): readonly string[] => {
  const given: unknown = Reflect.get(globalThis, permission);
  return given instanceof Set ? [...given].map(String) : [];
};

/** False in a deployment. */
export const canPermit = (): boolean => Reflect.has(globalThis, permission);

/** True if `address:port` is permitted; without a port, any port of the address. */
export const isPermitted = (address: string, port?: number): boolean =>
  permitted().some((entry) =>
    port === undefined ? entry.slice(0, entry.lastIndexOf(':')) === address : entry === `${address}:${port}`,
  );

/** A customer's host that is restricted, or resolves to a restricted address. */
export class RestrictedHost extends Error {
  override readonly name = 'RestrictedHost';

  constructor() {
    super('The host is restricted');
  }
}

const internalDomains = ['localhost', 'localdomain', 'local', 'internal'];

const metadataNames = new Set(['metadata', 'instance-data', 'metadata.goog']);

/** Labels of letters, digits, hyphens and underscores. The last one begins with a letter, so it is not a number. */
const domainName = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const isInternalName = (name: string): boolean =>
  metadataNames.has(name) || internalDomains.some((domain) => name === domain || name.endsWith(`.${domain}`));

/** Removes the brackets of an IPv6 address in a URL. */
export const bareHost = (host: string): string => (/^\[.*:.*\]$/.test(host) ? host.slice(1, -1) : host);

/**
 * True if a host is restricted by its spelling: a restricted or unusually spelled IP address, an internal name, or no
 * valid host. `checkedAddresses` checks what a name resolves to.
 */
export const isRestrictedHost = (host: string, port?: number): boolean => {
  const bare = bareHost(host);
  if (addressFamily(bare) !== 0) return isRestrictedAddress(bare) && !isPermitted(bare, port);
  const name = bare.toLowerCase();
  return !domainName.test(name) || isInternalName(name);
};

export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** DNS queries; each rejects with the error of `node:dns`. */
export interface Resolver {
  addresses(host: string): Promise<readonly HostAddress[]>;
  services(name: string): Promise<readonly { readonly name: string; readonly port: number }[]>;
  texts(name: string): Promise<readonly (readonly string[])[]>;
}

const system: Resolver = {
  addresses: (host) => dns.lookup(host, { all: true }),
  services: (name) => dns.resolveSrv(name),
  texts: (name) => dns.resolveTxt(name),
};

/** Only tests set it, to replace the DNS. */
const scripted = Symbol.for('basalt.resolver');

export const resolver = (): Resolver => (Reflect.get(globalThis, scripted) as Resolver | undefined) ?? system;

/**
 * Resolves and checks a customer's host; one restricted address makes the host restricted (`RestrictedHost`). An
 * unknown name rejects with the error of `node:dns`.
 */
export const checkedAddresses = async (host: string, port?: number): Promise<readonly HostAddress[]> => {
  if (isRestrictedHost(host, port)) throw new RestrictedHost();
  const bare = bareHost(host);
  const family = addressFamily(bare);
  if (family !== 0) return [{ address: bare, family }];
  const addresses = await resolver().addresses(bare);
  if (addresses.some(({ address }) => isRestrictedAddress(address) && !isPermitted(address, port))) {
    throw new RestrictedHost();
  }
  return addresses;
};

const families: Readonly<Record<string, number>> = { IPv4: 4, IPv6: 6 };

const nothingFound = (): Error =>
  Object.assign(new Error('The host has no address of the family that is asked for'), { code: NODATA });

const ofFamily = async (
  host: string,
  wanted: number | string | undefined,
  port: number | undefined,
): Promise<[HostAddress, ...HostAddress[]]> => {
  const family = typeof wanted === 'string' ? families[wanted] : wanted;
  const addresses = await checkedAddresses(host, port);
  const [first, ...others] = family ? addresses.filter((address) => address.family === family) : addresses;
  if (!first) throw nothingFound();
  return [first, ...others];
};

/**
 * A `lookup` for connections to customers' hosts (`net`, `tls`, `http`, the MongoDB driver). The checked address is the
 * one that is connected to, because nothing resolves the name again. A restricted host rejects with `RestrictedHost`.
 * Node calls no look-up for a host that is an IP address: check that with `isRestrictedHost`.
 */
export const pinnedLookupTo =
  (port?: number): LookupFunction =>
  (host, { all, family }, callback) => {
    ofFamily(host, family, port).then(
      (addresses) => {
        const [{ address, family: found }] = addresses;
        if (all) callback(null, addresses);
        else callback(null, address, found);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };

/** For any port. */
export const pinnedLookup: LookupFunction = pinnedLookupTo();
