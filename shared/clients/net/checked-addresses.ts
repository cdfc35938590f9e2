import { isPermitted } from './permitted-addresses.ts';
import { type HostAddress, resolver } from './resolver.ts';
import { bareHost, isRestrictedHost, RestrictedHost } from './restricted-host.ts';
import { addressFamily, isRestrictedAddress } from './restricted-ranges.ts';

/**
 * The addresses of a customer's host, every one of them checked: if one is restricted, so is the host
 * (`RestrictedHost`). A name that does not resolve rejects with the error of `node:dns`.
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
