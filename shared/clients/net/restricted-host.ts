import { addressFamily, isRestrictedAddress } from './restricted-ranges.ts';

/** Set by tests and by `npm start`, and by the local bootstrap on their behalf; never in a deployment. */
const permission = Symbol.for('basalt.permitted-addresses');

const permitted = (): readonly string[] => {
  const given: unknown = Reflect.get(globalThis, permission);
  return given instanceof Set ? [...given].map(String) : [];
};

/** Whether this process may be told to permit addresses: no deployed one is. */
export const canPermit = (): boolean => Reflect.has(globalThis, permission);

/** Whether tests have permitted a restricted `address:port`; without a port, that of any port is enough. */
export const isPermitted = (address: string, port?: number): boolean =>
  permitted().some((entry) =>
    port === undefined ? entry.slice(0, entry.lastIndexOf(':')) === address : entry === `${address}:${port}`,
  );

/** A customer's host that is, or leads, where no customer may go. */
export class RestrictedHost extends Error {
  override readonly name = 'RestrictedHost';

  constructor() {
    super('The host is restricted');
  }
}

const internalDomains = ['localhost', 'localdomain', 'local', 'internal'];

const metadataNames = new Set(['metadata', 'instance-data', 'metadata.goog']);

/** Labels of letters, digits, hyphens and underscores; the last one begins with a letter, as else it is a number. */
const domainName = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const isInternalName = (name: string): boolean =>
  metadataNames.has(name) || internalDomains.some((domain) => name === domain || name.endsWith(`.${domain}`));

/** A host without the brackets that IPv6 addresses have in URLs. */
export const bareHost = (host: string): string => (/^\[.*:.*\]$/.test(host) ? host.slice(1, -1) : host);

/**
 * Whether a host must be refused by its spelling alone: a restricted address, an address spelled in any but the usual
 * way, an internal name, or no host at all. Where the host's name leads is `checkedAddresses`' to find out.
 */
export const isRestrictedHost = (host: string, port?: number): boolean => {
  const bare = bareHost(host);
  if (addressFamily(bare) !== 0) return isRestrictedAddress(bare) && !isPermitted(bare, port);
  const name = bare.toLowerCase();
  return !domainName.test(name) || isInternalName(name);
};
