import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto';
import { nowSeconds } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { write } from '../../table/item.ts';
import { itemKey, type Key } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { consumeItem } from '../../table/single-use.ts';
import type { SessionScope } from '../sessions.ts';
import type { OpenedSession } from '../sign-in.ts';

const lifetimeSeconds = 60;
const codeBytes = 32;
const tagBytes = 16;
const wellFormed = /^[A-Za-z0-9_-]{43}$/;
const maxTokenLength = 4096;

const algorithm = 'aes-256-gcm';

/** Each code derives a key of its own that encrypts a single token, so a constant nonce is safe. */
const nonce = Buffer.alloc(12);

const keyOf = (code: string): Buffer => Buffer.from(hkdfSync('sha256', code, '', 'basalt exchange code', 32));

const sealWith = (code: string, token: string): string => {
  const cipher = createCipheriv(algorithm, keyOf(code), nonce);
  return Buffer.concat([cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
};

const openWith = (code: string, sealed: string): string => {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv(algorithm, keyOf(code), nonce, { authTagLength: tagBytes });
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  return decipher.update(bytes.subarray(0, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
};

const sha256 = (text: string): string => hash('sha256', text, 'base64url');

const codeKey = (scope: SessionScope, code: string) => itemKey(kinds.exchangeCode, scope, { hash: sha256(code) });

type CodeItem = Key & {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresAt: number;
};

/**
 * A code that exchanges for the refresh token once, within 60 s, together with the access token (contract 3, "Social").
 * Stored are hashes of both, and the refresh token sealed with a key that only the code itself gives.
 */
export const issueExchangeCode = async (
  scope: SessionScope,
  { accessToken, refreshToken }: Pick<OpenedSession, 'accessToken' | 'refreshToken'>,
): Promise<string> => {
  const code = randomBytes(codeBytes).toString('base64url');
  const item: CodeItem = {
    ...codeKey(scope, code),
    accessToken: sha256(accessToken),
    refreshToken: sealWith(code, refreshToken),
    expiresAt: nowSeconds() + lifetimeSeconds,
  };
  await write({ put: item });
  return code;
};

const invalidCode = (): AppError =>
  new AppError('INVALID_EXCHANGE_CODE', 'Invalid or expired refresh token exchange code');

/**
 * The refresh token behind a code: for one of any number of parallel callers, who shows the access token that the code
 * was issued with. Everything else is 400 `INVALID_EXCHANGE_CODE`, and does not use the code up.
 */
export const exchangeCode = async (scope: SessionScope, code: string, accessToken: string): Promise<string> => {
  if (!wellFormed.test(code) || accessToken.length > maxTokenLength) throw invalidCode();
  const used = await consumeItem<CodeItem>({
    key: codeKey(scope, code),
    condition: 'accessToken = :token AND expiresAt > :now',
    values: { token: sha256(accessToken), now: nowSeconds() },
  });
  if (!used) throw invalidCode();
  return openWith(code, used.item.refreshToken);
};
