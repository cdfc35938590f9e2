import { createRemoteJWKSet, customFetch, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { clock } from '../../core/clock.ts';
import { ShortCache } from '../../core/short-cache.ts';
import { sha256 } from '../one-time-secrets.ts';
import type { IdentityProvider } from './providers.ts';

/** Signatures by keys that only the provider has: none of a shared secret, and not `none`. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** Clocks differ by less; a token is fresh from the token endpoint. */
const toleranceSeconds = 60;
const maxAgeSeconds = 600;

const keySets = new ShortCache<JWTVerifyGetKey>(Number.POSITIVE_INFINITY, 200);

/**
 * The keys at an address, kept for 10 minutes; a key that is not among them has them read anew, at most once in 30 s,
 * so that a provider can change its keys at any time and nobody can have us ask it over and over.
 */
const keysAt = (url: string, ask: IdentityProvider['ask']): Promise<JWTVerifyGetKey> =>
  keySets.get(url, async () =>
    createRemoteJWKSet(new URL(url), {
      cacheMaxAge: 600_000,
      cooldownDuration: 30_000,
      [customFetch]: async (address) => {
        const { status, text } = await ask(address, { headers: { accept: 'application/json' } });
        return new Response(text, { status });
      },
    }),
  );

/** What an ID token has to repeat: made of the verifier that the browser alone keeps, so that no other code fits. */
export const nonceOf = (verifier: string): string => sha256(`nonce ${verifier}`);

/** For whom an ID token has to be, and for which sign-in. */
interface ExpectedToken {
  readonly clientId: string;
  readonly nonce: string;
}

/**
 * The claims of an ID token: signed by a key of its issuer, for this client alone, now, and for this sign-in (OpenID
 * Connect Core 3.1.3.7); anything else rejects.
 */
export const verifyIdToken = async (
  { urls: { keys = '', issuer = '' }, ask }: Pick<IdentityProvider, 'urls' | 'ask'>,
  token: string,
  { clientId, nonce }: ExpectedToken,
): Promise<JWTPayload> => {
  const { payload } = await jwtVerify(token, await keysAt(keys, ask), {
    algorithms,
    issuer,
    audience: clientId,
    currentDate: new Date(clock.now()),
    clockTolerance: toleranceSeconds,
    maxTokenAge: maxAgeSeconds,
    requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
  });
  const { aud, azp } = payload;
  if (payload.nonce !== nonce) throw new Error('The ID token is of another sign-in');
  const isForOthersToo = Array.isArray(aud) && aud.length > 1;
  if ((isForOthersToo || azp !== undefined) && azp !== clientId) throw new Error('The ID token was given to another');
  return payload;
};
