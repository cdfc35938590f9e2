import { hash, randomInt } from 'node:crypto';
import type { KeyKind } from './project-record.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefixes: Readonly<Record<KeyKind, string>> = { publishable: 'pk_live_', secret: 'sk_live_' };
const wellFormed = /^(pk|sk)_live_[0-9A-Za-z]{32}$/;

/** A new key: `pk_live_` or `sk_live_` and 32 base62 characters (190 bits). */
export const newApiKey = (kind: KeyKind): string =>
  prefixes[kind] + Array.from({ length: 32 }, () => alphabet[randomInt(alphabet.length)]).join('');

/** The form in which a key is stored and looked up: SHA-256, hexadecimal. */
export const hashApiKey = (key: string): string => hash('sha256', key, 'hex');

/** Which kind a key claims to be; `undefined` for anything that cannot be a key. */
export const kindOfKey = (key: string): KeyKind | undefined => {
  if (!wellFormed.test(key)) return undefined;
  return key.startsWith('pk') ? 'publishable' : 'secret';
};
