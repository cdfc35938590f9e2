import { hasProperScheme, portOf } from '../clients/net/guarded-request.ts';
import { checkedAddresses } from '../clients/net/pinned-lookup.ts';
import { RestrictedHost } from '../clients/net/restricted-host.ts';
import { AppError } from '../core/errors.ts';

const maxLength = 2000;

/** The refusal of a webhook that cannot be (400), naming the field that is wrong. */
export const invalidWebhook = (field: string, message: string, cause?: unknown): AppError =>
  new AppError('INVALID_WEBHOOK', message, { cause, errors: [{ field, message }] });

/**
 * The address of a receiver as it is kept: `https`, without user, password and fragment, on a host of the public
 * internet, every address of which is checked as hosts of own databases are (contract 7); else 400 `INVALID_WEBHOOK`.
 */
export const checkReceiver = async (text: string): Promise<string> => {
  const url = text.length <= maxLength ? URL.parse(text) : null;
  if (!url) throw invalidWebhook('url', `url must be an address of at most ${maxLength} characters, https://…`);
  if (!hasProperScheme(url)) throw invalidWebhook('url', 'url must begin with https://');
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw invalidWebhook('url', 'url must have no user name, password or fragment');
  }
  try {
    await checkedAddresses(url.hostname, portOf(url));
  } catch (error) {
    throw error instanceof RestrictedHost
      ? invalidWebhook('url', 'url must be on the public internet; this host is private or reserved.', error)
      : invalidWebhook('url', 'url could not be reached: its host has no address.', error);
  }
  return url.href;
};
