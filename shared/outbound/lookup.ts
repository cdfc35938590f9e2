import { promises as dns, NODATA } from 'node:dns';
import type { LookupFunction } from 'node:net';
import {
  addressFamily,
  bareHost,
  isPermitted,
  isRestrictedAddress,
  isRestrictedHost,
  RestrictedHost,
} from './restricted-addresses.ts';

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
