import { checkedAddresses } from '../clients/net/pinned-lookup.ts';
import { isPermitted, RestrictedHost } from '../clients/net/restricted-host.ts';
import { AppError } from '../core/errors.ts';

/** A storage that cannot be connected → 400 `INVALID_STORAGE`, naming the field that is wrong, if it is one. */
export const invalidStorage = (message: string, field: string | undefined, cause?: unknown): AppError =>
  new AppError('INVALID_STORAGE', message, { cause, ...(field ? { errors: [{ field, message }] } : {}) });

export const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'http:' ? 80 : 443));

/** The refusal of an endpoint that is, or leads, where no customer may go. */
export const privateEndpoint = (): AppError =>
  invalidStorage('endpoint must be a host on the public internet; this one is private or reserved.', 'endpoint');

/**
 * The endpoint of a customer's storage as it is kept: `https`, with nothing after its path, on a host of the public
 * internet every address of which has been checked, as hosts of databases are (contract 7).
 */
export const checkedEndpoint = async (text: string): Promise<string> => {
  const url = new URL(text);
  const port = portOf(url);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPermitted(url.hostname, port))) {
    throw invalidStorage('endpoint must begin with https://', 'endpoint');
  }
  if (url.username !== '' || url.password !== '' || /[?#]/.test(text)) {
    throw invalidStorage('endpoint must have no user name, password, query or fragment', 'endpoint');
  }
  try {
    await checkedAddresses(url.hostname, port);
  } catch (error) {
    throw error instanceof RestrictedHost
      ? privateEndpoint()
      : invalidStorage('endpoint could not be reached: its host has no address.', 'endpoint', error);
  }
  return url.href.replace(/\/+$/, '');
};
