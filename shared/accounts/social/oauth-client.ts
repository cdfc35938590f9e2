import { CodeChallengeMethod, OAuth2Client } from 'arctic';
import * as v from 'valibot';
import { boundedText } from '../../core/bounded-text.ts';
import { signInFailed } from './landing.ts';
import type { IdentityProvider, SocialProfile } from './providers.ts';

/** Timeout of one request; a sign-in makes two in a row, well within the function's own limit. */
const limitMs = 5000;
const maxBytes = 256 * 1024;

/** The parser's own message would quote the answer, which may hold a token, into the log. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('The answer is not JSON');
  }
};

interface ProviderAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** One request to a provider: at most 5 s and 256 KiB, redirects not followed. No such answer, or no JSON → rejects. */
const askProvider = async (url: string, init: RequestInit): Promise<ProviderAnswer> => {
  const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(limitMs) });
  const text = await boundedText(response, maxBytes);
  if (text === undefined) throw new Error(`The answer is larger than ${maxBytes} bytes`);
  return { status: response.status, body: parse(text) };
};

/** An app as the provider knows it, and the address to which it sends browsers back. */
export interface OAuthApp {
  readonly clientId: string;
  readonly callback: string;
}

/** The same with what its developer got when they registered it with the provider. */
export interface ClientCredentials extends OAuthApp {
  readonly clientSecret: string;
}

/** Where to send the browser: the provider's consent page, with PKCE (S256). */
export const authorizationUrl = (
  provider: IdentityProvider,
  { clientId, callback }: OAuthApp,
  state: string,
  verifier: string,
): string =>
  new OAuth2Client(clientId, null, callback).createAuthorizationURLWithPKCE(
    provider.urls.authorization,
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
  const answer = await askProvider(provider.urls.token, { method: 'POST', headers, body }).catch((cause: unknown) => {
    throw signInFailed(`${provider.title} did not answer as it should. Please try again.`, cause);
  });
  if (answer.status !== 200 || !v.is(granted, answer.body)) throw refusal(provider, answer);
  return answer.body.access_token;
};

const read = async (url: string, accessToken: string): Promise<unknown> => {
  const { status, body } = await askProvider(url, {
    headers: { accept: 'application/json', authorization: `Bearer ${accessToken}`, 'user-agent': 'Basalt' },
  });
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return body;
};

/** Who the holder of a provider's access token is; any answer that its schema does not expect fails the sign-in. */
export const fetchProfile = async (
  { title, profileUrls, profile }: IdentityProvider,
  accessToken: string,
): Promise<SocialProfile> => {
  try {
    const answers = await Promise.all(
      Object.entries(profileUrls).map(async ([name, url]) => [name, await read(url, accessToken)] as const),
    );
    return v.parse(profile, Object.fromEntries(answers));
  } catch (cause) {
    throw signInFailed(`${title} did not tell who you are. Please try again.`, cause);
  }
};
