import { mailSettings } from '../core/config.ts';
import { addressIn } from '../core/mailbox.ts';

const longestName = 40;

/** What a reader, or a mail program, could make an address of: with a scheme, a host or a user; numbers to call. */
const addresses = [
  /\S*(?::\/\/|@)\S*/g,
  /\b(?:www\.|mailto:|tel:)\S*/gi,
  /\S*(?:\p{L}|\p{N})[.](?:\p{L}|xn--)[\p{L}\p{M}\p{N}-]+\S*/gu,
  /\S*[\da-f]*:[\da-f]*:\S*/gi,
  /\+?\d(?:[\s().-]*\d){6,}/g,
];

const dots = /[\u3002\uff0e\uff61]/g;

/** Signs that join two words, such as those of `Fern & Field`, `Jean-Luc` and `O'Brien`, which stay; and all others. */
const signs = /(?<=[\p{L}\p{M}\p{N}])( [&-] |[&'’-])(?=[\p{L}\p{N}])|[^\p{L}\p{M}\p{N}]+/gu;

/**
 * The name of a project as a mail from the address that all share shows it: letters, digits and spaces, and `&`, `-`
 * and apostrophes between them, 40 characters, nothing that leads anywhere. `''` where nothing is left of it.
 */
export const plainName = (name: string): string => {
  const readable = name.normalize('NFKC').replace(dots, '.');
  const words = addresses.reduce((text, address) => text.replace(address, ' '), readable);
  const plain = words.replace(signs, (_, joining = ' ') => joining).trim();
  return [...plain]
    .slice(0, longestName)
    .join('')
    .replace(/[^\p{L}\p{M}\p{N}]+$/u, '');
};

/** A site's plain name before the address that `from` holds; `from` as it is where nothing is left of the name. */
export const senderOf = (siteName: string, from: string): string => {
  const name = plainName(siteName);
  return name === '' ? from.trim() : `${name} <${addressIn(from)}>`;
};

/** Who a mail is from: the project's own address, or (`null`) ours with the site's name. */
export const fromOf = (ownAddress: string | null, siteName: string): string =>
  ownAddress ?? senderOf(siteName, mailSettings().EMAIL_FROM);
