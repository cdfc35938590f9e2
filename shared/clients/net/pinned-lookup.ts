import { NODATA } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { checkedAddresses } from './checked-addresses.ts';
import type { HostAddress } from './resolver.ts';

const families: Readonly<Record<string, number>> = { IPv4: 4, IPv6: 6 };

const nothingFound = (): Error =>
  Object.assign(new Error('The host has no address of the family that is asked for'), { code: NODATA });

const ofFamily = async (
  host: string,
  wanted: number | string | undefined,
): Promise<[HostAddress, ...HostAddress[]]> => {
  const family = typeof wanted === 'string' ? families[wanted] : wanted;
  const addresses = await checkedAddresses(host);
  const [first, ...others] = family ? addresses.filter((address) => address.family === family) : addresses;
  if (!first) throw nothingFound();
  return [first, ...others];
};

/**
 * A `lookup` for connections to customers' hosts (`net`, `tls`, agents of `http`, the MongoDB driver): what was checked
 * is what is connected to, as nothing resolves the name again. A restricted host is the error `RestrictedHost`. Node
 * asks no look-up for a host that is an address: check that before with `isRestrictedHost`.
 */
export const pinnedLookup: LookupFunction = (host, { all, family }, callback) => {
  ofFamily(host, family).then(
    (addresses) => {
      const [{ address, family: found }] = addresses;
      if (all) callback(null, addresses);
      else callback(null, address, found);
    },
    (error: NodeJS.ErrnoException) => callback(error, ''),
  );
};
