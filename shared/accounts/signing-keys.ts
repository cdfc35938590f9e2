import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { clock } from '../core/clock.ts';
import type { Project, SigningKey } from '../projects/project.ts';
import { seal } from '../projects/sealed.ts';

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
export const verifyingKeys = (project: Project): readonly SigningKey[] => {
  const now = clock.now();
  return project.signingKeys.filter(({ retiresAt }) => retiresAt === undefined || retiresAt.getTime() > now);
};

/** The key that signs: the newest that every function knows. */
export const currentSigningKey = (project: Project): SigningKey | undefined => {
  const now = clock.now();
  return project.signingKeys.findLast(({ signsFrom }) => signsFrom === undefined || signsFrom.getTime() <= now);
};

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
