import { createHmac, timingSafeEqual } from 'node:crypto';

const stepSeconds = 30;
const digits = 6;
/** A device whose clock is off by so many steps is still understood. */
const drift = 1;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Bytes as authenticator apps take them: base32 (RFC 4648) without padding. */
export const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
};

/** The code of a step of 30 seconds since 1970: HMAC-SHA-1, cut as RFC 4226 has it. */
export const codeAt = (secret: Uint8Array, step: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits).padStart(digits, '0');
};

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** The step above `after` whose code this is, of the present one and one on either side; spaces do not matter. */
export const stepOf = (secret: Uint8Array, typed: string, seconds: number, after = -1): number | undefined => {
  const code = typed.replace(/\s/g, '');
  if (!/^\d{6}$/.test(code)) return undefined;
  const now = Math.floor(seconds / stepSeconds);
  return [now, now - drift, now + drift].find((step) => step > after && isSame(codeAt(secret, step), code));
};

/** What an authenticator app reads from a QR code; apps show a `+` as it stands. */
export const otpauthUri = (secret: string, issuer: string, account: string): string => {
  const app = encodeURIComponent(issuer);
  return `otpauth://totp/${app}:${encodeURIComponent(account)}?secret=${secret}&issuer=${app}`;
};
