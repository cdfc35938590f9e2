import { createPrivateKey, type KeyObject } from 'node:crypto';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
} from 'jose';
import { clock } from '../core/clock.ts';
import { ShortCache } from '../core/short-cache.ts';
import type { Project, SigningKey } from '../projects/project.ts';
import { open, seal } from '../projects/sealed.ts';
import { type Bearer, type IssuedToken, signToken, type TokenKind, tokenInvalid, verifyToken } from './session-jwt.ts';

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
