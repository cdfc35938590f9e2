import * as v from 'valibot';
import { isPlainObject } from './json.ts';

export const textOrNull = v.string('must be a String or null');

export const atMost = (characters: number) =>
  v.maxLength<string, number, string>(characters, `must have at most ${characters} characters`);

export const flag = v.boolean('must be a Boolean');

/** Rejects other fields, and arrays, which valibot's own check accepts. */
export const exactObject = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(v.custom<Record<string, unknown>>(isPlainObject, 'must be an Object'), v.strictObject(entries));

/** Maximum length of an address for mail servers, in characters. */
export const maxAddressLength = 254;

const inAscii = 'in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)';

/** The error message for a field without a valid address. */
export const unreachable: string = `must be an email address of at most ${maxAddressLength} characters, ${inAscii}`;

/** The error message for a field without a valid address or mailbox. */
export const noMailbox: string = `must be an email address ${inAscii}, or Name <address>`;

/** A hint for addresses with other characters. */
export const asciiHint = (address: string): string =>
  /\P{ASCII}/u.test(addressIn(address)) ? `. Addresses are ${inAscii}` : '';

/** Dot-separated words, an @ and a host name with a dot, in ASCII, which all mail servers accept. */
export const addressPattern =
  "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$";
const plausible = new RegExp(addressPattern);

/** Maximum octets before the @ (RFC 5321, 4.5.3.1.1). */
const maxLocalLength = 64;

/** True for a valid address of at most 254 characters, 64 of them before the @. */
export const isAddress = (text: string): boolean =>
  text.length <= maxAddressLength && text.lastIndexOf('@') <= maxLocalLength && plausible.test(text);

/** The address in `Name <address>`, or the text itself. */
export const addressIn = (mailbox: string): string => (/<([^<>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox).trim();

/** A display name: quoted, or without characters that have a meaning in address lists, and without line ends. */
const displayName = /^(?: *"[^"\\<>\p{Cc}\u2028\u2029]*" *|[^"\\<>()[\]:;@,\p{Cc}\u2028\u2029]*)$/u;
const maxNameLength = 200;

/** Characters without quotes and surrounding space. */
const nameLength = (name: string): number => Array.from(name.trim().replace(/^"(.*)"$/, '$1')).length;

/** An upper bound: a name of two-unit characters, quotes, spaces and brackets. */
const maxMailboxLength = 2 * maxNameLength + maxAddressLength + 20;

/** True for an address or `Name <address>` that may be used in a header unchanged. */
export const isMailbox = (text: string): boolean => {
  if (text.length > maxMailboxLength) return false;
  const [, name, address] = /^([^<>]*)<([^<>]*)>$/.exec(text) ?? [];
  if (name === undefined || address === undefined) return isAddress(text);
  return isAddress(address) && nameLength(name) <= maxNameLength && displayName.test(name);
};
