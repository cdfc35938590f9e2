import { CodeChallengeMethod, OAuth2Client } from 'arctic';
import * as v from 'valibot';
import { serviceName } from '../../core/service-name.ts';
import { jsonIn, type ProviderAnswer } from './ask-provider.ts';
import { nonceOf, verifyIdToken } from './id-token.ts';
import { signInFailed } from './landing.ts';
import { type IdentityProvider, profileOf, type SocialProfile } from './providers.ts';

/** An app as the provider knows it, and the address to which it sends browsers back. */
export interface OAuthApp {
  readonly clientId: string;
  readonly callback: string;
}

/** The same with what its developer got when they registered it with the provider. */
export interface ClientCredentials extends OAuthApp {
  readonly clientSecret: string;
}

const signsIdTokens = ({ urls }: IdentityProvider): boolean => urls.keys !== undefined;

/** Where to send the browser: the provider's consent page, with PKCE (S256) and a nonce where the provider has them. */
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

/** Both spellings of a client id or secret that the provider does not know. */
const credentialErrors: ReadonlySet<string> = new Set(['invalid_client', 'incorrect_client_credentials']);

const refusal = ({ title }: IdentityProvider, status: number, body: unknown) => {
  const error = v.is(denied, body) ? body.error : undefined;
  return signInFailed(
    error !== undefined && credentialErrors.has(error)
      ? `${title} does not accept the client id or secret of this app. Its developer has to correct the settings.`
      : `${title} did not confirm the sign-in. Please try again.`,
    new Error(`The token endpoint answered ${status} ${error ?? 'without a usable token'}`),
  );
};

/** Basic credentials are encoded as form fields before (RFC 6749, 2.3.1). */
const encoded = (text: string): string => new URLSearchParams({ text }).toString().slice('text='.length);

const basic = ({ clientId, clientSecret }: ClientCredentials): string =>
  `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')}`;

const accept = { accept: 'application/json', 'user-agent': serviceName };

/** What a code was good for. */
export interface Tokens {
  readonly accessToken: string;
  readonly idToken?: string | undefined;
}

/**
 * Redeems the code of a callback for tokens of the provider. arctic's own request has no limit of time or size and
 * follows redirects, so it is made here.
 */
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
  const ask = async (): Promise<ProviderAnswer & { readonly body: unknown }> => {
    const answer = await provider.ask(provider.urls.token, { method: 'POST', headers, body });
    return { ...answer, body: jsonIn(answer) };
  };
  const answer = await ask().catch((cause: unknown) => {
    throw signInFailed(`${provider.title} did not answer as it should. Please try again.`, cause);
  });
  if (answer.status !== 200 || !v.is(granted, answer.body)) throw refusal(provider, answer.status, answer.body);
  return { accessToken: answer.body.access_token, idToken: answer.body.id_token };
};

const read = async ({ ask }: IdentityProvider, url: string, accessToken: string): Promise<unknown> => {
  const answer = await ask(url, { headers: { ...accept, authorization: `Bearer ${accessToken}` } });
  const body = jsonIn(answer);
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
  return body;
};

/** Which sign-in a profile is read for, and what the browser brought of it. */
interface ProfileQuestion {
  readonly clientId: string;
  readonly verifier: string;
  readonly form?: string | undefined;
}

/** Who the holder of a provider's tokens is; any answer that its schema does not expect fails the sign-in. */
export const fetchProfile = async (
  provider: IdentityProvider,
  { accessToken, idToken = '' }: Tokens,
  { clientId, verifier, form }: ProfileQuestion,
): Promise<SocialProfile> => {
  try {
    const claims = signsIdTokens(provider)
      ? await verifyIdToken(provider, idToken, { clientId, nonce: nonceOf(verifier) })
      : undefined;
    const answers = await Promise.all(
      Object.entries(provider.profileUrls).map(
        async ([name, url]) => [name, await read(provider, url, accessToken)] as const,
      ),
    );
    return profileOf(provider, { ...Object.fromEntries(answers), claims, form });
  } catch (cause) {
    throw signInFailed(`${provider.title} did not tell who you are. Please try again.`, cause);
  }
};
