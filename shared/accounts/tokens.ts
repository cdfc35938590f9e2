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

/** Ids are 24 hex characters. */
export interface Bearer {
  readonly userId: string;
  readonly sessionId: string;
  /** Sign-in methods; missing in old sessions. */
  readonly amr?: readonly string[];
}

export interface IssuedToken {
  readonly accessToken: string;
  /** Such as `15m`. */
  readonly expiresIn: string;
}

export interface TokenKind {
  readonly alg: 'EdDSA' | 'HS256';
  readonly typ: string;
  readonly audience: string;
  /** What to do if a refresh does not help. */
  readonly advice: string;
}

/** Characters; our tokens have a quarter. */
const maxLength = 2048;

const tokenInvalid = ({ advice }: TokenKind, cause?: unknown): AppError =>
  new AppError('TOKEN_INVALID', `The access token is invalid or has expired. Refresh it or ${advice}.`, { cause });

const inWords = (seconds: number): string => {
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
};

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

const methodsIn = ({ amr }: JWTPayload): Pick<Bearer, 'amr'> => (Array.isArray(amr) ? { amr: amr.map(String) } : {});

interface VerifiedToken extends Bearer {
  readonly kid: string;
  readonly expiresAtMs: number;
  /** Missing in dashboard tokens. */
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

/** Valid tokens by hash. Tokens being verified are kept apart, so that forged ones evict none. */
const verified = new ShortCache<VerifiedToken>(Number.POSITIVE_INFINITY, 2000, {
  isMiss: () => false,
  size: 100,
  ttlMs: 0,
});

/** Verifies an access token. Throws 401 `TOKEN_INVALID`. A cached token does not need its key any more. */
export const verifyToken = async (kind: TokenKind, keyFor: JWTVerifyGetKey, token: string): Promise<VerifiedToken> => {
  if (token.length > maxLength) throw tokenInvalid(kind);
  const digest = hash('sha256', `${kind.audience}\n${token}`, 'base64');
  const read = await verified.get(digest, () => check(kind, keyFor, token));
  if (read.expiresAtMs <= clock.now()) throw tokenInvalid(kind);
  return read;
};

const kind: TokenKind = { alg: 'HS256', typ: 'dashboard+jwt', audience: 'dashboard', advice: 'sign in again' };

/** Signed with a key derived from the master key. */
export const issueDashboardToken = async (
  bearer: Bearer,
  seconds: number = serviceSettings().DASHBOARD_TOKEN_SECONDS,
): Promise<IssuedToken> => signToken(kind, await derivedKey('dashboard tokens'), bearer, seconds);

/** Throws 401 `TOKEN_INVALID`. */
export const verifyDashboardToken = async (token: string): Promise<Bearer> => {
  const { userId, sessionId } = await verifyToken(kind, () => derivedKey('dashboard tokens'), token);
  return { userId, sessionId };
};

/** Context that a private signing key is sealed for. */
export const sealedTo = (projectId: string, kid: string): string => `${projectId}/${kid}`;

/** New Ed25519 key pair; `kid` is its RFC 7638 thumbprint. */
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

/** Keys that a rotation has not retired. */
const verifyingKeys = (project: Project): readonly SigningKey[] => {
  const now = clock.now();
  return project.signingKeys.filter(({ retiresAt }) => retiresAt === undefined || retiresAt.getTime() > now);
};

/** The newest key that every function knows. */
const currentSigningKey = (project: Project): SigningKey | undefined => {
  const now = clock.now();
  return project.signingKeys.findLast(({ signsFrom }) => signsFrom === undefined || signsFrom.getTime() <= now);
};

/** Keys are published 20 minutes before they sign, so caches are never too old. */
export const jwksMaxAgeSeconds = 300;

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

/** Valid for 15 minutes. */
export const issueAccessToken = async (project: Project, bearer: Bearer): Promise<IssuedToken> => {
  const key = currentSigningKey(project);
  if (!key) throw new Error('The project has no signing key');
  const named = { kid: key.kid, claims: { projectId: project.id, userId: bearer.userId } };
  return signToken(kindOf(project), await privateKeyOf(project, key), bearer, lifetimeSeconds, named);
};

/** Throws 401 `TOKEN_INVALID`. */
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
