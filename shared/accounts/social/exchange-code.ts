import { hkdfSync } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import { openBy, sealBy } from '../../projects/sealed.ts';
import { itemKey } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { consumeSecret, isSecret, issueSecret, type OneTime, randomSecret, sha256 } from '../one-time-secrets.ts';
import type { SessionScope } from '../sessions.ts';
import type { OpenedSession } from '../sign-in.ts';

const codes: OneTime = { keyOf: (scope, hash) => itemKey(kinds.exchangeCode, scope, { hash }), seconds: 60 };
const maxTokenLength = 4096;

/** Each code gives a key of its own. */
const keyOf = (code: string): Buffer => Buffer.from(hkdfSync('sha256', code, '', 'basalt exchange code', 32));

const place = 'exchange code';

/**
 * A code that exchanges for the refresh token once, within 60 s, together with the access token (contract 3, "Social").
 * Stored are hashes of both, and the refresh token sealed with a key that only the code itself gives.
 */
export const issueExchangeCode = async (
  scope: SessionScope,
  { accessToken, refreshToken }: Pick<OpenedSession, 'accessToken' | 'refreshToken'>,
): Promise<string> => {
  const code = randomSecret();
  const values = { accessToken: sha256(accessToken), refreshToken: sealBy(keyOf(code), refreshToken, place) };
  return issueSecret(codes, scope, values, code);
};

const invalidCode = (): AppError =>
  new AppError('INVALID_EXCHANGE_CODE', 'Invalid or expired refresh token exchange code');

/**
 * The refresh token behind a code: for one of any number of parallel callers, who shows the access token that the code
 * was issued with. Everything else is 400 `INVALID_EXCHANGE_CODE`, and does not use the code up.
 */
export const exchangeCode = async (scope: SessionScope, code: string, accessToken: string): Promise<string> => {
  if (!isSecret(code) || accessToken.length > maxTokenLength) throw invalidCode();
  const expected = { accessToken: sha256(accessToken) };
  const used = await consumeSecret<{ readonly refreshToken: string }>(codes, scope, code, expected);
  if (!used) throw invalidCode();
  return openBy(keyOf(code), used.refreshToken, place);
};
