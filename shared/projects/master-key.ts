import { hkdfSync } from 'node:crypto';
import { secret } from '../clients/secrets.ts';
import { keySettings } from '../core/config.ts';
import { ShortCache } from '../core/short-cache.ts';

const keys = new ShortCache<Buffer>(Number.POSITIVE_INFINITY, 20);

const masterKey = async (): Promise<Buffer> => {
  const { ENCRYPTION_KEY, ENCRYPTION_SECRET_ARN } = keySettings();
  const text = ENCRYPTION_KEY || (ENCRYPTION_SECRET_ARN ? await secret(ENCRYPTION_SECRET_ARN) : '');
  if (!text) throw new Error('Neither ENCRYPTION_KEY nor ENCRYPTION_SECRET_ARN is set');
  const key = Buffer.from(text, 'base64');
  if (key.length < 32) throw new Error('The encryption key must be at least 32 bytes in base64');
  return key;
};

/** The 32-byte key of one purpose, derived from the master key with HKDF-SHA-256; derived once a process. */
export const derivedKey = (purpose: 'sealed v1' | 'dashboard tokens' | 'email codes'): Promise<Buffer> =>
  keys.get(purpose, async () => Buffer.from(hkdfSync('sha256', await masterKey(), '', `basalt ${purpose}`, 32)));
