import { type KeyObject, sign, verify } from 'node:crypto';
import type { LinkKey } from './link-key.ts';

// Signed URLs of CloudFront with a canned policy, as its documentation has them: the address with its query, and a
// time.

const algorithm = 'sha256';

/** What a signature is over; `expires` in seconds since 1970. */
const policyOf = (address: string, expires: number): Buffer =>
  Buffer.from(`{"Statement":[{"Resource":"${address}","Condition":{"DateLessThan":{"AWS:EpochTime":${expires}}}}]}`);

/** Base64 as CloudFront writes it in an address. */
const toText = (bytes: Buffer): string =>
  bytes.toString('base64').replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~');

const toBytes = (text: string): Buffer =>
  Buffer.from(text.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/'), 'base64');

/** An address that opens until `expires`, seconds since 1970. */
export const signedAddress = (address: string, expires: number, { id, privateKey }: LinkKey): string => {
  const signature = toText(sign(algorithm, policyOf(address, expires), privateKey));
  const asked = `Expires=${expires}&Signature=${signature}&Key-Pair-Id=${id}&Hash-Algorithm=SHA256`;
  return `${address}${address.includes('?') ? '&' : '?'}${asked}`;
};

const ofSignature = new Set(['Expires', 'Signature', 'Key-Pair-Id', 'Hash-Algorithm']);

/**
 * Whether an address, with all of its query, was signed with one of the keys and has not expired at `now` (ms since
 * 1970): each parameter of the signature once, every other one part of what was signed.
 */
export const isSigned = (address: string, keys: ReadonlyMap<string, KeyObject>, now: number): boolean => {
  const [place = '', query = ''] = address.split('?', 2);
  const parts = query.split('&').map((part) => part.split('=', 2) as [string, string?]);
  const given = parts.filter(([name]) => ofSignature.has(name));
  const { Expires = '', Signature = '', 'Key-Pair-Id': id = '', 'Hash-Algorithm': hash } = Object.fromEntries(given);
  const key = keys.get(id);
  if (given.length !== ofSignature.size || !key || hash !== 'SHA256' || !/^[1-9]\d{0,11}$/.test(Expires)) return false;
  const others = query.split('&').filter((part) => !ofSignature.has(part.split('=', 1)[0] ?? ''));
  const signed = others.length > 0 ? `${place}?${others.join('&')}` : place;
  const bytes = toBytes(Signature);
  // Other spellings of the same bytes are none of ours.
  if (toText(bytes) !== Signature || Number(Expires) * 1000 <= now) return false;
  return verify(algorithm, policyOf(signed, Number(Expires)), key, bytes);
};
