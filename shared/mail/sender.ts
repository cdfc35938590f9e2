import { mailSettings } from '../core/config.ts';
import { plainName } from './plain-name.ts';

/** The address inside `Name <address>`, or the text itself. */
const addressOf = (from: string): string => /<([^<>]*)>\s*$/.exec(from)?.[1] ?? from.trim();

/** A site's plain name before the address that `from` holds; `from` as it is where nothing is left of the name. */
export const senderOf = (siteName: string, from: string): string => {
  const name = plainName(siteName);
  return name === '' ? from.trim() : `${name} <${addressOf(from)}>`;
};

/** Who a mail is from: the project's own address, or (`null`) ours with the site's name. */
export const fromOf = (ownAddress: string | null, siteName: string): string =>
  ownAddress ?? senderOf(siteName, mailSettings().EMAIL_FROM);
