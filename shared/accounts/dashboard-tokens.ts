import { randomUUID } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { clock, nowSeconds } from '../core/clock.ts';
import { serviceSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { derivedKey } from '../projects/master-key.ts';
import type { IssuedToken } from './access-tokens.ts';

/** The developer a dashboard token speaks for, and their session. */
export interface DashboardBearer {
  readonly developerId: string;
  readonly sessionId: string;
}

const algorithm = 'HS256';
const tokenType = 'dashboard+jwt';
const audience = 'dashboard';
const maxTokenLength = 2048;

const inWords = (seconds: number): string => {
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
};

/**
 * A token for the dashboard API, signed by a key derived from the master key (contract 6). It lives as long as the
 * setting says unless `seconds` are given.
 */
export const issueDashboardToken = async (
  { developerId, sessionId }: DashboardBearer,
  seconds: number = serviceSettings().DASHBOARD_TOKEN_SECONDS,
): Promise<IssuedToken> => {
  const { PUBLIC_URL } = serviceSettings();
  const issuedAt = nowSeconds();
  const accessToken = await new SignJWT({ sid: sessionId })
    .setProtectedHeader({ alg: algorithm, typ: tokenType })
    .setSubject(developerId)
    .setIssuer(PUBLIC_URL)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + seconds)
    .setJti(randomUUID())
    .sign(await derivedKey('dashboard tokens'));
  return { accessToken, expiresIn: inWords(seconds) };
};

const tokenInvalid = (cause?: unknown): AppError =>
  new AppError('TOKEN_INVALID', 'The access token is invalid or has expired. Refresh it or log in again.', { cause });

/**
 * Who a dashboard token speaks for. Anything but a token of ours, for the dashboard and for now, is 401
 * `TOKEN_INVALID`.
 */
export const verifyDashboardToken = async (token: string): Promise<DashboardBearer> => {
  if (token.length > maxTokenLength) throw tokenInvalid();
  try {
    const { payload } = await jwtVerify(token, await derivedKey('dashboard tokens'), {
      algorithms: [algorithm],
      typ: tokenType,
      audience,
      issuer: serviceSettings().PUBLIC_URL,
      currentDate: new Date(clock.now()),
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    const { sub, sid } = payload;
    if (!sub || typeof sid !== 'string') throw tokenInvalid();
    return { developerId: sub, sessionId: sid };
  } catch (error) {
    throw error instanceof errors.JOSEError ? tokenInvalid(error) : error;
  }
};
