import { createHash, randomUUID } from 'node:crypto';
import { type CryptoKey, errors, importJWK, type JWK, type JWTHeaderParameters, jwtVerify, SignJWT } from 'jose';
import { clock, nowSeconds } from '../core/clock.ts';
import { serviceSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { ShortCache } from '../core/short-cache.ts';
import type { Project, SigningKey } from '../projects/project.ts';
import { open } from '../projects/sealed.ts';
import { currentSigningKey, sealedTo, verifyingKeys } from './signing-keys.ts';

/** An end user of a project and the session they act in. Ids are 24 hex characters. */
export interface Bearer {
  readonly userId: string;
  readonly sessionId: string;
}

/** A signed access token; `expiresIn` is its human-readable lifetime. */
export interface IssuedToken {
  readonly accessToken: string;
  /** Human-readable lifetime, such as `15m`. */
  readonly expiresIn: string;
}

const algorithm = 'EdDSA';
const tokenType = 'at+jwt';
const lifetimeSeconds = 900;
const maxTokenLength = 4096;

const publicKeys = new ShortCache<CryptoKey>(Number.POSITIVE_INFINITY, 1000);
const privateKeys = new ShortCache<CryptoKey>(Number.POSITIVE_INFINITY, 1000);

const importKey = async (jwk: JWK): Promise<CryptoKey> => {
  const key = await importJWK(jwk, algorithm);
  if (key instanceof Uint8Array) throw new Error('A signing key of the project is not an Ed25519 key');
  return key;
};

const publicKeyOf = (project: Project, { kid, publicKey }: SigningKey): Promise<CryptoKey> =>
  publicKeys.get(sealedTo(project.id, kid), () => importKey(publicKey));

const privateKeyOf = (project: Project, { kid, encryptedPrivateKey }: SigningKey): Promise<CryptoKey> => {
  const place = sealedTo(project.id, kid);
  return privateKeys.get(place, async () => importKey(JSON.parse(await open(encryptedPrivateKey, place)) as JWK));
};

/**
 * An access token for an end user, signed with the project's current key, valid for 15 minutes (contract 3, "Tokens").
 */
export const issueAccessToken = async (project: Project, { userId, sessionId }: Bearer): Promise<IssuedToken> => {
  const key = currentSigningKey(project);
  if (!key) throw new Error('The project has no signing key');
  const issuedAt = nowSeconds();
  const accessToken = await new SignJWT({ projectId: project.id, userId, sid: sessionId })
    .setProtectedHeader({ alg: algorithm, typ: tokenType, kid: key.kid })
    .setSubject(userId)
    .setIssuer(serviceSettings().PUBLIC_URL)
    .setAudience(project.id)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .setJti(randomUUID())
    .sign(await privateKeyOf(project, key));
  return { accessToken, expiresIn: '15m' };
};

interface Verified extends Bearer {
  readonly kid: string;
  readonly expiresAtMs: number;
}

/**
 * Tokens whose signature and claims were found good, by hash: a signature costs more than the rest of a cached read.
 */
const verified = new Map<string, Verified>();
const verifiedLimit = 2000;

const remember = (hash: string, entry: Verified): void => {
  if (verified.size >= verifiedLimit) verified.delete(verified.keys().next().value as string);
  verified.set(hash, entry);
};

const tokenInvalid = (cause?: unknown): AppError =>
  new AppError('TOKEN_INVALID', 'The access token is invalid or has expired. Refresh it or sign in again.', { cause });

const check = async (project: Project, token: string): Promise<Verified> => {
  const keyFor = ({ kid }: JWTHeaderParameters): Promise<CryptoKey> => {
    const key = verifyingKeys(project).find((candidate) => candidate.kid === kid);
    if (!key) throw tokenInvalid();
    return publicKeyOf(project, key);
  };
  const { payload, protectedHeader } = await jwtVerify(token, keyFor, {
    algorithms: [algorithm],
    typ: tokenType,
    issuer: serviceSettings().PUBLIC_URL,
    audience: project.id,
    currentDate: new Date(clock.now()),
    requiredClaims: ['sub', 'exp', 'iat'],
  });
  const { sub, sid, aud, exp, projectId } = payload;
  if (!sub || typeof sid !== 'string' || !exp || aud !== project.id || projectId !== project.id) throw tokenInvalid();
  return { userId: sub, sessionId: sid, kid: protectedHeader.kid ?? '', expiresAtMs: exp * 1000 };
};

/**
 * Who an access token of this project speaks for. Anything but a token that one of the project's present keys signed,
 * for this project and for now, is 401 `TOKEN_INVALID`.
 */
export const verifyAccessToken = async (project: Project, token: string): Promise<Bearer> => {
  if (token.length > maxTokenLength) throw tokenInvalid();
  const hash = createHash('sha256').update(`${project.id}\n${token}`).digest('base64');
  const known = verified.get(hash);
  if (known) {
    const { userId, sessionId, kid, expiresAtMs } = known;
    if (expiresAtMs > clock.now() && verifyingKeys(project).some((key) => key.kid === kid))
      return { userId, sessionId };
    verified.delete(hash);
    throw tokenInvalid();
  }
  try {
    const entry = await check(project, token);
    remember(hash, entry);
    return { userId: entry.userId, sessionId: entry.sessionId };
  } catch (error) {
    throw error instanceof errors.JOSEError ? tokenInvalid(error) : error;
  }
};
