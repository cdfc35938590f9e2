import { createHmac, hash, type KeyObject, randomUUID, sign } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { clock, nowSeconds } from '../core/clock.ts';
import { serviceSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { ShortCache } from '../core/short-cache.ts';
import { derivedKey } from '../projects/sealed.ts';

/** Who acts, and in which of their sessions. Ids are 24 hex characters. */
export interface Bearer {
  readonly userId: string;
  readonly sessionId: string;
  /** How they proved who they are (contract 3, "Tokens"); missing in sessions from before that was kept. */
  readonly amr?: readonly string[];
}

export interface IssuedToken {
  readonly accessToken: string;
  /** Human-readable lifetime, such as `15m`. */
  readonly expiresIn: string;
}

/** What access tokens of one kind have in common: those of a project, or those of the dashboard. */
export interface TokenKind {
  readonly alg: 'EdDSA' | 'HS256';
  readonly typ: string;
  readonly audience: string;
  /** What to do about a bad one, besides refreshing it. */
  readonly advice: string;
}

/** In characters; ours are a quarter of it. */
const maxLength = 2048;

export const tokenInvalid = ({ advice }: TokenKind, cause?: unknown): AppError =>
  new AppError('TOKEN_INVALID', `The access token is invalid or has expired. Refresh it or ${advice}.`, { cause });

const inWords = (seconds: number): string => {
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
};

const encoded = (part: JWTPayload): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Signed in this thread: Web Crypto, and jose with it, hands each signature to another one, which costs more. */
const signatureOf = (text: string, key: KeyObject | Uint8Array): Buffer =>
  key instanceof Uint8Array ? createHmac('sha256', key).update(text).digest() : sign(null, Buffer.from(text), key);

/** An access token of a session, good for `seconds`; `kid` names the key where there are several. */
export const signToken = (
  { alg, typ, audience }: TokenKind,
  key: KeyObject | Uint8Array,
  { userId, sessionId, amr }: Bearer,
  seconds: number,
  { kid, claims = {} }: { readonly kid?: string; readonly claims?: JWTPayload } = {},
): IssuedToken => {
  const iat = nowSeconds();
  const whose = { ...claims, amr, sid: sessionId, sub: userId, iss: serviceSettings().PUBLIC_URL, aud: audience };
  const text = `${encoded({ alg, typ, kid })}.${encoded({ ...whose, iat, exp: iat + seconds, jti: randomUUID() })}`;
  return {
    accessToken: `${text}.${signatureOf(text, key).toString('base64url')}`,
    expiresIn: inWords(seconds),
  };
};

/** The methods that a token of ours names. */
const methodsIn = ({ amr }: JWTPayload): Pick<Bearer, 'amr'> => (Array.isArray(amr) ? { amr: amr.map(String) } : {});

interface VerifiedToken extends Bearer {
  readonly kid: string;
  readonly expiresAtMs: number;
  /** What it says of the project; nothing in tokens of the dashboard. */
  readonly projectId: unknown;
}

const check = async (kind: TokenKind, keyFor: JWTVerifyGetKey, token: string): Promise<VerifiedToken> => {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keyFor, {
      algorithms: [kind.alg],
      typ: kind.typ,
      audience: kind.audience,
      issuer: serviceSettings().PUBLIC_URL,
      currentDate: new Date(clock.now()),
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    const { sub, sid, aud, exp, projectId } = payload;
    if (!sub || typeof sid !== 'string' || !exp || aud !== kind.audience) throw tokenInvalid(kind);
    return {
      userId: sub,
      sessionId: sid,
      ...methodsIn(payload),
      kid: protectedHeader.kid ?? '',
      expiresAtMs: exp * 1000,
      projectId,
    };
  } catch (error) {
    throw error instanceof errors.JOSEError ? tokenInvalid(kind, error) : error;
  }
};

/**
 * Tokens that were found valid, by hash: a signature costs more than the rest of a cached read. Those that are being
 * read stand apart, so that forged ones push none of them out.
 */
const verified = new ShortCache<VerifiedToken>(Number.POSITIVE_INFINITY, 2000, {
  isMiss: () => false,
  size: 100,
  ttlMs: 0,
});

/**
 * Reads an access token; anything but one of this kind, of ours and for now, is 401 `TOKEN_INVALID`. One that was read
 * before is not asked for its key again, which may be gone.
 */
export const verifyToken = async (kind: TokenKind, keyFor: JWTVerifyGetKey, token: string): Promise<VerifiedToken> => {
  if (token.length > maxLength) throw tokenInvalid(kind);
  const digest = hash('sha256', `${kind.audience}\n${token}`, 'base64');
  const read = await verified.get(digest, () => check(kind, keyFor, token));
  if (read.expiresAtMs <= clock.now()) throw tokenInvalid(kind);
  return read;
};

const kind: TokenKind = { alg: 'HS256', typ: 'dashboard+jwt', audience: 'dashboard', advice: 'log in again' };

/** A token for the dashboard API, signed by a key derived from the master key; as long as set, or `seconds`. */
export const issueDashboardToken = async (
  bearer: Bearer,
  seconds: number = serviceSettings().DASHBOARD_TOKEN_SECONDS,
): Promise<IssuedToken> => signToken(kind, await derivedKey('dashboard tokens'), bearer, seconds);

/** Whom a dashboard token speaks for; anything but one of ours, for now → 401 `TOKEN_INVALID`. */
export const verifyDashboardToken = async (token: string): Promise<Bearer> => {
  const { userId, sessionId } = await verifyToken(kind, () => derivedKey('dashboard tokens'), token);
  return { userId, sessionId };
};
