import { mailSettings } from '../config.ts';

const maxNameLength = 100;

/** What a name before an address may not hold: control characters, and what has a meaning in an address. */
const special = /[\p{Cc}\u2028\u2029"\\<>()[\]:;@,]+/gu;

/** The address inside `Name <address>`, or the text itself. */
const addressOf = (from: string): string => /<([^<>]*)>\s*$/.exec(from)?.[1] ?? from.trim();

/** The sender of a mail: a site's name before the address that `from` (an address, or `Name <address>`) holds. */
export const senderOf = (siteName: string, from: string): string => {
  const name = siteName.replace(special, ' ').replace(/\s+/g, ' ').trim().slice(0, maxNameLength);
  const address = addressOf(from);
  return name === '' ? address : `${name} <${address}>`;
};

/**
 * Who a mail is from: the project's own address, `null` where it has none that counts, or else ours with the site's
 * name.
 */
export const fromOf = (ownAddress: string | null, siteName: string): string =>
  ownAddress ?? senderOf(siteName, mailSettings().EMAIL_FROM);
