import { codeAt } from '../../../shared/accounts/second-factor.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Decodes a base32 secret like an authenticator app. */
export const bytesOf = (base32: string): Buffer => {
  const bits = [...base32].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};

/** The code of an authenticator app, `steps` of 30 seconds from now. */
export const shownCode = (secret: string, steps = 0): string =>
  codeAt(bytesOf(secret), Math.floor(Date.now() / 30_000) + steps);
