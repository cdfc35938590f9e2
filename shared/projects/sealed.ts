import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { ShortCache } from '../core/cache.ts';
import { keySettings } from '../core/config.ts';
import { settingText } from '../persistence/secrets.ts';

const keys = new ShortCache<Buffer>(Number.POSITIVE_INFINITY, 20);

const masterKey = async (): Promise<Buffer> => {
  const { ENCRYPTION_KEY, ENCRYPTION_SECRET_ARN } = keySettings();
  const text = await settingText(ENCRYPTION_KEY, ENCRYPTION_SECRET_ARN);
  if (!text) throw new Error('Neither ENCRYPTION_KEY nor ENCRYPTION_SECRET_ARN is set');
  const key = Buffer.from(text, 'base64');
  if (key.length < 32) throw new Error('The encryption key must be at least 32 bytes in base64');
  return key;
};

/** A 32-byte key per purpose, derived from the master key with HKDF-SHA-256; cached. */
export const derivedKey = (
  purpose:
    | 'sealed v1'
    | 'dashboard tokens'
    | 'email codes'
    | 'feed positions'
    | 'realtime tickets'
    | 'recovery codes'
    | 'refresh tokens'
    | 'repeats'
    | 'file links',
): Promise<Buffer> =>
  keys.get(purpose, async () => Buffer.from(hkdfSync('sha256', await masterKey(), '', `basalt ${purpose}`, 32)));

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** First byte of a sealed value; allows changing key and format later. */
const version = Buffer.of(1);

const boundTo = (recordId: string): Buffer => Buffer.concat([version, Buffer.from(recordId, 'utf8')]);

/**
 * AES-256-GCM with a 32-byte key. Returns base64url of version, nonce, ciphertext and tag. `recordId` is authenticated,
 * so the value opens only in that record.
 */
export const sealBy = (key: Buffer, plain: string, recordId: string): string => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(boundTo(recordId));
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([version, nonce, body, cipher.getAuthTag()]).toString('base64url');
};

/** Throws if the value was altered or moved to another record. */
export const openBy = (key: Buffer, sealed: string, recordId: string): string => {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes[0] !== version[0] || bytes.length < version.length + nonceBytes + tagBytes) {
    throw new Error('The stored secret has an unknown format');
  }
  const bodyStart = version.length + nonceBytes;
  const nonce = bytes.subarray(version.length, bodyStart);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(boundTo(recordId)).setAuthTag(bytes.subarray(-tagBytes));
  return decipher.update(bytes.subarray(bodyStart, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
};

export const seal = async (plain: string, recordId: string): Promise<string> =>
  sealBy(await derivedKey('sealed v1'), plain, recordId);

export const open = async (sealed: string, recordId: string): Promise<string> =>
  openBy(await derivedKey('sealed v1'), sealed, recordId);
