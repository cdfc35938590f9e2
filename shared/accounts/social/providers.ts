import * as v from 'valibot';
import { addressesOf } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { isAddress } from '../../core/schemas.ts';
import { guardedRequest } from '../../outbound/http.ts';
import { idTokenProfile } from '../../projects/social/openid-providers.ts';
import {
  type OpenIdName,
  type ProfileAddress,
  type ProviderRules,
  providerLimits,
  usual,
  withIssuer,
} from '../../projects/social/provider-rules.ts';
import {
  forEachProvider,
  nameOfProvider,
  type SocialProviderName,
  socialProviderNames,
  socialProviders,
} from '../../projects/social/providers.ts';
import { discover } from '../../projects/social/settings.ts';
import { canonicalEmail } from '../email-tokens.ts';
import { askProvider, signInFailed, withForm } from './ask-provider.ts';

/** `id` never changes; `addresses` are canonical, the primary one first. */
export interface SocialProfile {
  readonly id: string;
  readonly name: string | undefined;
  readonly username: string | undefined;
  readonly addresses: readonly ProfileAddress[];
}

const maxAddresses = 10;

/** Display text, or `undefined` if it cannot be shown as it is. */
const labelOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' ? value.trim() : '';
  return text !== '' && text.length <= 100 && text.isWellFormed() && !/\p{Cc}/u.test(text) ? text : undefined;
};

const canonical = (email: string): string | undefined => {
  const address = canonicalEmail(email);
  return isAddress(address) ? address : undefined;
};

/** Parses a provider's responses. Throws if they do not match its schema. */
export const profileOf = ({ profile, hiddenAddresses }: ProviderRules, answers: unknown): SocialProfile => {
  const { id, name, username, addresses } = v.parse(profile, answers);
  const kept = addresses.flatMap(({ email: told, verified }) => {
    const email = canonical(told);
    const isHidden = hiddenAddresses !== null && email?.endsWith(hiddenAddresses);
    return email === undefined || isHidden ? [] : [{ email, verified }];
  });
  return { id, name: labelOf(name), username: labelOf(username), addresses: kept.slice(0, maxAddresses) };
};

export interface IdentityProvider extends ProviderRules {
  readonly name: SocialProviderName | OpenIdName;
  /** Prefix of its identity keys, unique among providers. */
  readonly identities: string;
  /** Sends `iss` with each code (RFC 9207). */
  readonly sendsIssuer: boolean;
  readonly ask: typeof askProvider;
}

/** Only the local emulation and tests use other addresses. */
const places = forEachProvider((name) => {
  const { urls, profileUrls } = socialProviders[name];
  return { urls: addressesOf(name, urls), profileUrls: addressesOf(name, profileUrls) };
});

/** Loads a provider; OpenID providers are discovered then. */
export type ProviderLoad = () => Promise<IdentityProvider>;

export const unknownProvider = (): AppError =>
  new AppError(
    'UNKNOWN_PROVIDER',
    `Unknown provider. Use one of: ${socialProviderNames.join(', ')}, or oidc:<name> from the project's settings.`,
  );

/** Throws 404 `UNKNOWN_PROVIDER`. */
export const requireProvider = (path: string): IdentityProvider => {
  const name = socialProviderNames.find((known) => known === path);
  if (!name) throw unknownProvider();
  const { urls, profileUrls } = places[name];
  return {
    ...socialProviders[name],
    name,
    urls: urls(),
    profileUrls: profileUrls(),
    identities: `${name}:`,
    sendsIssuer: false,
    ask: askProvider,
  };
};

/** Developers configure these addresses, so each connection is checked. */
const askGuarded: typeof askProvider = (url, request) =>
  guardedRequest(url, { ...withForm(request), ...providerLimits });

/** Discovers an OpenID provider. Identities belong to the issuer, whatever its name here. */
export const openIdProvider = async (name: OpenIdName, issuer: string): Promise<IdentityProvider> => {
  const title = nameOfProvider(name);
  const told = await discover(issuer).catch((cause: unknown) => {
    throw signInFailed(`${title} did not respond as expected. Retry.`, cause);
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
