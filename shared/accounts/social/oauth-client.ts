import { CodeChallengeMethod, OAuth2Client } from 'arctic';
import { createRemoteJWKSet, customFetch, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import * as v from 'valibot';
import { ShortCache } from '../../core/cache.ts';
import { clock } from '../../core/clock.ts';
import { serviceName } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { sha256 } from '../single-use-secrets.ts';
import { type ProviderResponse, parseJson, signInFailed } from './ask-provider.ts';
import { type IdentityProvider, profileOf, type SocialProfile } from './providers.ts';

/** Only asymmetric algorithms: no shared secrets, and not `none`. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** ID tokens are fresh from the token endpoint. */
const toleranceSeconds = 60;
const maxAgeSeconds = 600;

const keySets = new ShortCache<JWTVerifyGetKey>(Number.POSITIVE_INFINITY, 200);

/** Cached for 10 minutes; an unknown key reloads them at most every 30 s. */
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

/** Derived from the verifier that only the browser has, so that no other code fits. */
export const nonceOf = (verifier: string): string => sha256(`nonce ${verifier}`);

interface ExpectedToken {
  readonly clientId: string;
  readonly nonce: string;
}

/** OpenID Connect Core 3.1.3.7. Rejects if it is invalid. */
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

/** An app as registered with the provider. */
export interface OAuthApp {
  readonly clientId: string;
  readonly callback: string;
}

export interface ClientCredentials extends OAuthApp {
  readonly clientSecret: string;
}

const signsIdTokens = ({ urls }: IdentityProvider): boolean => urls.keys !== undefined;

/** URL of the provider's consent page, with PKCE (S256) and a nonce if the provider supports them. */
export const authorizationUrl = (
  provider: IdentityProvider,
  { clientId, callback }: OAuthApp,
  state: string,
  verifier: string,
): string => {
  const client = new OAuth2Client(clientId, null, callback);
  const { authorization } = provider.urls;
  const scopes = [...provider.scopes];
  const url = provider.hasPkce
    ? client.createAuthorizationURLWithPKCE(authorization, state, CodeChallengeMethod.S256, verifier, scopes)
    : client.createAuthorizationURL(authorization, state, scopes);
  for (const [name, value] of Object.entries(provider.parameters)) url.searchParams.set(name, value);
  if (signsIdTokens(provider)) url.searchParams.set('nonce', nonceOf(verifier));
  return url.href;
};

const granted = v.object({
  access_token: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,4096}$/)),
  id_token: v.optional(v.pipe(v.string(), v.regex(/^[\w.-]{1,16384}$/))),
});
const denied = v.object({ error: v.pipe(v.string(), v.regex(/^[a-z_]{1,50}$/)) });

/** Both spellings of an unknown client id or secret. */
const credentialErrors: ReadonlySet<string> = new Set(['invalid_client', 'incorrect_client_credentials']);

const tokenError = ({ title }: IdentityProvider, status: number, body: unknown) => {
  const error = v.is(denied, body) ? body.error : undefined;
  return signInFailed(
    error !== undefined && credentialErrors.has(error)
      ? `${title} does not accept the client id or secret of this app. Its developer has to correct the settings.`
      : `${title} did not confirm the sign-in. Retry.`,
    new Error(`The token endpoint returned ${status} ${error ?? 'without a usable token'}`),
  );
};

/** Basic credentials are form-encoded first (RFC 6749, 2.3.1). */
const encoded = (text: string): string => new URLSearchParams({ text }).toString().slice('text='.length);

const basic = ({ clientId, clientSecret }: ClientCredentials): string =>
  `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')}`;

const accept = { accept: 'application/json', 'user-agent': serviceName };

interface Tokens {
  readonly accessToken: string;
  readonly idToken?: string | undefined;
}

/** Redeems a code for tokens. arctic's own request has no limits and follows redirects. */
export const redeemCode = async (
  provider: IdentityProvider,
  app: ClientCredentials,
  code: string,
  verifier: string,
): Promise<Tokens> => {
  const inBody = provider.sendsSecret === 'in the body';
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: app.callback,
    ...(provider.hasPkce && { code_verifier: verifier }),
    ...(inBody && { client_id: app.clientId, client_secret: app.clientSecret }),
  });
  const headers = { ...accept, ...(!inBody && { authorization: basic(app) }) };
  const ask = async (): Promise<ProviderResponse & { readonly body: unknown }> => {
    const answer = await provider.ask(provider.urls.token, { method: 'POST', headers, body });
    return { ...answer, body: parseJson(answer) };
  };
  const answer = await ask().catch((cause: unknown) => {
    throw signInFailed(`${provider.title} did not respond as expected. Retry.`, cause);
  });
  if (answer.status !== 200 || !v.is(granted, answer.body)) throw tokenError(provider, answer.status, answer.body);
  return { accessToken: answer.body.access_token, idToken: answer.body.id_token };
};

const fetchPart = async (
  { ask, appFault }: IdentityProvider,
  part: string,
  url: string,
  accessToken: string,
): Promise<unknown> => {
  const answer = await ask(url, { headers: { ...accept, authorization: `Bearer ${accessToken}` } });
  const body = parseJson(answer);
  if (answer.status === 200) return body;
  const cause = new Error(`${url} answered ${answer.status}`);
  const fault = appFault(part, answer.status, body);
  throw fault === undefined ? cause : signInFailed(fault, cause);
};

interface ProfileContext {
  readonly clientId: string;
  readonly verifier: string;
  readonly form?: string | undefined;
}

/** The user's profile. Throws `SOCIAL_SIGN_IN_FAILED` if the provider's responses do not match its schema. */
export const fetchProfile = async (
  provider: IdentityProvider,
  { accessToken, idToken = '' }: Tokens,
  { clientId, verifier, form }: ProfileContext,
): Promise<SocialProfile> => {
  try {
    const claims = signsIdTokens(provider)
      ? await verifyIdToken(provider, idToken, { clientId, nonce: nonceOf(verifier) })
      : undefined;
    const answers = await Promise.all(
      Object.entries(provider.profileUrls).map(
        async ([name, url]) => [name, await fetchPart(provider, name, url, accessToken)] as const,
      ),
    );
    return profileOf(provider, { ...Object.fromEntries(answers), claims, form });
  } catch (cause) {
    if (cause instanceof AppError && cause.code === 'SOCIAL_SIGN_IN_FAILED') throw cause;
    throw signInFailed(`${provider.title} did not return your identity. Retry.`, cause);
  }
};
