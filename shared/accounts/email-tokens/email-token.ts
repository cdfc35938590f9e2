import { createHmac, hash, randomBytes, randomInt } from 'node:crypto';
import { derivedKey } from '../../projects/sealed.ts';
import { sha256 } from '../one-time-secrets.ts';

/**
 * What a mail's token is good for: to verify an address, to set a password anew, to sign in, or to change the address.
 */
export type EmailTokenKind = 'verify' | 'reset' | 'code' | 'change';

type CodeKey = 'email codes' | 'recovery codes';

const keyBytes = 16;
const secretBytes = 32;
const wellFormedToken = /^[A-Za-z0-9_-]{64}$/;

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeLength = 8;
const wellFormedCode = new RegExp(`^[${alphabet}]{${codeLength}}$`);

/** The name of an address in the keys of its items: half of its SHA-256, in base64url. */
export const addressKeyOf = (email: string): string =>
  hash('sha256', email, 'buffer').toString('base64url', 0, keyBytes);

/** A new token for a link: base64url of the address's key and 256 random bits. Only its hash is ever stored. */
export const newLinkToken = (addressKey: string): { readonly token: string; readonly hash: string } => {
  const token = Buffer.concat([Buffer.from(addressKey, 'base64url'), randomBytes(secretBytes)]).toString('base64url');
  return { token, hash: sha256(token) };
};

/** The item that a link token names, and the hash that must be stored there; `undefined` for what cannot be a token. */
export const parseLinkToken = (token: string) => {
  if (!wellFormedToken.test(token)) return undefined;
  const addressKey = Buffer.from(token, 'base64url').toString('base64url', 0, keyBytes);
  return { addressKey, hash: sha256(token) };
};

export const newCode = (): string => {
  const letters = Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
};

/** The letters of a code as typed, without case, dashes and spaces; `undefined` where it cannot be one. */
export const parseCode = (typed: string): string | undefined => {
  if (typed.length > 40) return undefined;
  const letters = typed.replace(/[\s-]/g, '').toUpperCase();
  return wellFormedCode.test(letters) ? letters : undefined;
};

/** The stored form of a code: keyed, as forty bits could be guessed from a plain hash, and bound to `place`. */
export const hashCode = async (code: string, place: string, key: CodeKey = 'email codes'): Promise<string> =>
  createHmac('sha256', await derivedKey(key))
    .update(`${place}\n${code}`)
    .digest('base64url');
