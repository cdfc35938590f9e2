import { createPrivateKey, hash, type KeyObject, randomUUID } from 'node:crypto';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  SignJWT,
} from 'jose';
import { ShortCache } from '../core/cache.ts';
import { clock, nowSeconds } from '../core/clock.ts';
import { serviceSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import type { Project, SigningKey } from '../projects/project.ts';
import { derivedKey, open, seal } from '../projects/sealed.ts';

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

const tokenInvalid = ({ advice }: TokenKind, cause?: unknown): AppError =>
  new AppError('TOKEN_INVALID', `The access token is invalid or has expired. Refresh it or ${advice}.`, { cause });

const inWords = (seconds: number): string => {
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
};

/** An access token of a session, good for `seconds`; `kid` names the key where there are several. */
const signToken = async (
  { alg, typ, audience }: TokenKind,
  key: KeyObject | Uint8Array,
  { userId, sessionId, amr }: Bearer,
  seconds: number,
  { kid, claims = {} }: { readonly kid?: string; readonly claims?: JWTPayload } = {},
): Promise<IssuedToken> => {
  const iat = nowSeconds();
  const whose = { ...claims, amr, sid: sessionId, sub: userId, iss: serviceSettings().PUBLIC_URL, aud: audience };
  const token = new SignJWT({ ...whose, iat, exp: iat + seconds, jti: randomUUID() });
  const header = { alg, typ, ...(kid !== undefined && { kid }) };
  return { accessToken: await token.setProtectedHeader(header).sign(key), expiresIn: inWords(seconds) };
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

/** What the private half of a signing key is sealed to: the project's record and the key's place in it. */
export const sealedTo = (projectId: string, kid: string): string => `${projectId}/${kid}`;

/** A new Ed25519 key pair for a project. `kid` is the key's RFC 7638 thumbprint; the private half is sealed. */
export const newSigningKey = async (projectId: string): Promise<SigningKey> => {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const publicJwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  return {
    kid,
    publicKey: { ...publicJwk, kid, alg: 'EdDSA', use: 'sig' },
    encryptedPrivateKey: await seal(JSON.stringify(await exportJWK(privateKey)), sealedTo(projectId, kid)),
  };
};

/** The keys whose tokens count: all but those that a rotation has retired. */
const verifyingKeys = (project: Project): readonly SigningKey[] => {
  const now = clock.now();
  return project.signingKeys.filter(({ retiresAt }) => retiresAt === undefined || retiresAt.getTime() > now);
};

/** The key that signs: the newest that every function knows. */
const currentSigningKey = (project: Project): SigningKey | undefined => {
  const now = clock.now();
  return project.signingKeys.findLast(({ signsFrom }) => signsFrom === undefined || signsFrom.getTime() <= now);
};

/** How long caches keep a key set. Keys are published 20 minutes before they sign, so none is late by it. */
export const jwksMaxAgeSeconds = 300;

/** The project's public keys as a JWK set (contract 3, "Tokens"); never anything private. */
export const getJwks = (project: Project): { readonly keys: readonly JWK[] } => ({
  keys: verifyingKeys(project).map(({ kid, publicKey: { kty = 'OKP', crv = 'Ed25519', x = '' } }) => ({
    kty,
    crv,
    x,
    kid,
    alg: 'EdDSA',
    use: 'sig',
  })),
});

const algorithm = 'EdDSA';
const lifetimeSeconds = 900;

const kindOf = ({ id: audience }: Project): TokenKind => ({
  alg: algorithm,
  typ: 'at+jwt',
  audience,
  advice: 'sign in again',
});

const publicKeys = new ShortCache<CryptoKey>(Number.POSITIVE_INFINITY, 1000);
const privateKeys = new ShortCache<KeyObject>(Number.POSITIVE_INFINITY, 1000);

const wrongKey = (): Error => new Error('A signing key of the project is not an Ed25519 key');

const publicKeyOf = (project: Project, { kid, publicKey }: SigningKey): Promise<CryptoKey> =>
  publicKeys.get(sealedTo(project.id, kid), async () => {
    const key = await importJWK(publicKey, algorithm);
    if (key instanceof Uint8Array) throw wrongKey();
    return key;
  });

const privateKeyOf = (project: Project, { kid, encryptedPrivateKey }: SigningKey): Promise<KeyObject> => {
  const place = sealedTo(project.id, kid);
  return privateKeys.get(place, async () => {
    const key = createPrivateKey({ key: JSON.parse(await open(encryptedPrivateKey, place)), format: 'jwk' });
    if (key.asymmetricKeyType !== 'ed25519') throw wrongKey();
    return key;
  });
};

/** An end user's access token, signed with the project's current key, for 15 minutes (contract 3, "Tokens"). */
export const issueAccessToken = async (project: Project, bearer: Bearer): Promise<IssuedToken> => {
  const key = currentSigningKey(project);
  if (!key) throw new Error('The project has no signing key');
  const named = { kid: key.kid, claims: { projectId: project.id, userId: bearer.userId } };
  return signToken(kindOf(project), await privateKeyOf(project, key), bearer, lifetimeSeconds, named);
};

/** Whom an access token speaks for; any but one that a present key of this project signed → 401 `TOKEN_INVALID`. */
export const verifyAccessToken = async (project: Project, token: string): Promise<Bearer> => {
  const kind = kindOf(project);
  const keyOf = (kid: string | undefined): SigningKey => {
    const key = verifyingKeys(project).find((candidate) => candidate.kid === kid);
    if (!key) throw tokenInvalid(kind);
    return key;
  };
  const keyFor = ({ kid }: JWTHeaderParameters): Promise<CryptoKey> => publicKeyOf(project, keyOf(kid));
  const { projectId, kid, userId, sessionId, amr } = await verifyToken(kind, keyFor, token);
  keyOf(kid);
  if (projectId !== project.id) throw tokenInvalid(kind);
  return { userId, sessionId, ...(amr && { amr }) };
};
