import { CodeChallengeMethod, generateCodeVerifier, OAuth2Client } from 'arctic';
import * as v from 'valibot';
import { askProvider, type ProviderAnswer } from './provider-request.ts';
import type { IdentityProvider } from './providers.ts';
import { signInFailed } from './sign-in-failure.ts';

/** An app as the provider knows it, and the address to which it sends browsers back. */
export interface OAuthApp {
  readonly clientId: string;
  readonly callback: string;
}

/** The same with what its developer got when they registered it with the provider. */
export interface ClientCredentials extends OAuthApp {
  readonly clientSecret: string;
}

/** A new PKCE verifier: 256 random bits. */
export const newVerifier = (): string => generateCodeVerifier();

/** Where to send the browser: the provider's consent page, with PKCE (S256). */
export const authorizationUrl = (
  provider: IdentityProvider,
  { clientId, callback }: OAuthApp,
  state: string,
  verifier: string,
): string =>
  new OAuth2Client(clientId, null, callback).createAuthorizationURLWithPKCE(
    provider.authorizationUrl,
    state,
    CodeChallengeMethod.S256,
    verifier,
    [...provider.scopes],
  ).href;

const granted = v.object({ access_token: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,4096}$/)) });
const denied = v.object({ error: v.pipe(v.string(), v.regex(/^[a-z_]{1,50}$/)) });

/** Both spellings of a client id or secret that the provider does not know. */
const credentialErrors: ReadonlySet<string> = new Set(['invalid_client', 'incorrect_client_credentials']);

const refusal = ({ title }: IdentityProvider, { status, body }: ProviderAnswer) => {
  const error = v.is(denied, body) ? body.error : undefined;
  return signInFailed(
    error !== undefined && credentialErrors.has(error)
      ? `${title} does not accept the client id or secret of this app. Its developer has to correct the settings.`
      : `${title} did not confirm the sign-in. Please try again.`,
    new Error(`The token endpoint answered ${status} ${error ?? 'without a usable token'}`),
  );
};

/**
 * Redeems the code of a callback for an access token of the provider. arctic's own request has no limit of time or size
 * and follows redirects, so it is made here; the secret goes in the body, which both providers take.
 */
export const redeemCode = async (
  provider: IdentityProvider,
  { clientId, clientSecret, callback }: ClientCredentials,
  code: string,
  verifier: string,
): Promise<string> => {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: callback,
    code_verifier: verifier,
    client_id: clientId,
    client_secret: clientSecret,
  });
  const headers = { accept: 'application/json', 'user-agent': 'Basalt' };
  const answer = await askProvider(provider.tokenUrl, { method: 'POST', headers, body }).catch((cause: unknown) => {
    throw signInFailed(`${provider.title} did not answer as it should. Please try again.`, cause);
  });
  if (answer.status !== 200 || !v.is(granted, answer.body)) throw refusal(provider, answer);
  return answer.body.access_token;
};
