import { guardedRequest } from '../../clients/net/guarded-request.ts';
import { discover } from '../../projects/social/openid-discovery.ts';
import type { OpenIdName } from '../../projects/social/openid-names.ts';
import { idTokenProfile } from '../../projects/social/openid-providers.ts';
import { providerLimits, usual } from '../../projects/social/provider-rules.ts';
import { withIssuer } from '../../projects/social/registration.ts';
import { nameOfProvider } from '../../projects/social-providers.ts';
import type { askProvider } from './ask-provider.ts';
import { signInFailed } from './landing.ts';
import type { IdentityProvider } from './providers.ts';

/** Developers name these addresses, so each connection is checked. */
const askGuarded: typeof askProvider = (url, { method, headers, body }) =>
  guardedRequest(url, {
    method,
    headers: body ? { ...headers, 'content-type': 'application/x-www-form-urlencoded' } : headers,
    body: body?.toString(),
    ...providerLimits,
  });

/** The provider that an issuer says that it is; its identities are those of the issuer, whatever it is called here. */
export const openIdProvider = async (name: OpenIdName, issuer: string): Promise<IdentityProvider> => {
  const title = nameOfProvider(name);
  const told = await discover(issuer).catch((cause: unknown) => {
    throw signInFailed(`${title} did not answer as it should. Please try again.`, cause);
  });
  const methods = told.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return {
    ...usual,
    name,
    title,
    scopes: ['openid', 'email', 'profile'],
    registration: withIssuer,
    urls: {
      authorization: told.authorization_endpoint,
      token: told.token_endpoint,
      keys: told.jwks_uri,
      issuer,
    },
    profileUrls: told.userinfo_endpoint === undefined ? {} : { user: told.userinfo_endpoint },
    profile: idTokenProfile,
    sendsSecret: methods.includes('client_secret_basic') ? 'as Basic' : 'in the body',
    identities: `oidc:${issuer}#`,
    sendsIssuer: told.authorization_response_iss_parameter_supported ?? false,
    ask: askGuarded,
  };
};
