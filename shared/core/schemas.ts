import * as v from 'valibot';
import { isPlainObject } from './json.ts';

export const textOrNull = v.string('must be a String or null');

export const atMost = (characters: number) =>
  v.maxLength<string, number, string>(characters, `must have at most ${characters} characters`);

export const flag = v.boolean('must be a Boolean');

/** An object with no other fields than these; valibot's own check lets arrays through. */
export const exactObject = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(v.custom<Record<string, unknown>>(isPlainObject, 'must be an Object'), v.strictObject(entries));

/** What mail servers take of an address at most, in characters. */
export const maxAddressLength = 254;

const inAscii = 'in ASCII (write a domain such as bücher.example as xn--bcher-kva.example)';

/** What is said of a field that holds no such address. */
export const unreachable: string = `must be an e-mail address of at most ${maxAddressLength} characters, ${inAscii}`;

/** What is said of a field that holds neither an address nor a mailbox. */
export const noMailbox: string = `must be an e-mail address ${inAscii}, or Name <address>`;

/** What an error about an address adds if other characters are what is wrong with it. */
export const asciiHint = (address: string): string =>
  /\P{ASCII}/u.test(addressIn(address)) ? `. Addresses are ${inAscii}` : '';

/** Dot-separated words, an @, and a host name with at least one dot: ASCII, as mail servers everywhere take it. */
export const addressPattern =
  "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$";
const plausible = new RegExp(addressPattern);

/** What stands before the @ has at most so many octets (RFC 5321, 4.5.3.1.1). */
const maxLocalLength = 64;

/** Whether mail could reach an address; at most 254 characters, 64 of them before the @. */
export const isAddress = (text: string): boolean =>
  text.length <= maxAddressLength && text.lastIndexOf('@') <= maxLocalLength && plausible.test(text);

/** The address inside of `Name <address>`, or the text itself. */
export const addressIn = (mailbox: string): string => (/<([^<>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox).trim();

/** A display name: quoted, or without anything that has a meaning in a list of addresses; no line ends beside it. */
const displayName = /^(?: *"[^"\\<>\p{Cc}\u2028\u2029]*" *|[^"\\<>()[\]:;@,\p{Cc}\u2028\u2029]*)$/u;
const maxNameLength = 200;

/** Characters of a display name, without its quotes and what is around it. */
const nameLength = (name: string): number => Array.from(name.trim().replace(/^"(.*)"$/, '$1')).length;

/** More than a mailbox takes: a name of characters of two units each, quotes, spaces and brackets. */
const maxMailboxLength = 2 * maxNameLength + maxAddressLength + 20;

/** Whether a text is an address, or `Name <address>`, that can stand in a header as it is. */
export const isMailbox = (text: string): boolean => {
  if (text.length > maxMailboxLength) return false;
  const [, name, address] = /^([^<>]*)<([^<>]*)>$/.exec(text) ?? [];
  if (name === undefined || address === undefined) return isAddress(text);
  return isAddress(address) && nameLength(name) <= maxNameLength && displayName.test(name);
};
