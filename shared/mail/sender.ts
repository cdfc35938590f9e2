import { mailSettings } from '../core/config.ts';
import { plainName } from './plain-name.ts';

/** The address inside `Name <address>`, or the text itself. */
const addressOf = (from: string): string => /<([^<>]*)>\s*$/.exec(from)?.[1] ?? from.trim();

/**
 * The sender of a mail: a site's plain name before the address that `from` (an address, or `Name <address>`) holds;
 * `from` as it is where nothing is left of the name.
 */
export const senderOf = (siteName: string, from: string): string => {
  const name = plainName(siteName);
  return name === '' ? from.trim() : `${name} <${addressOf(from)}>`;
};

/**
 * Who a mail is from: the project's own address, `null` where it has none that counts, or else ours with the site's
 * name.
 */
export const fromOf = (ownAddress: string | null, siteName: string): string =>
  ownAddress ?? senderOf(siteName, mailSettings().EMAIL_FROM);
