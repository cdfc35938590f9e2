import * as v from 'valibot';
import { openidProviders } from './openid-providers.ts';
import {
  isOpenIdName,
  label,
  type OpenIdName,
  type ProviderRules,
  type RegistrationFields,
  subject,
  usual,
  vouchedFor,
  withIssuer,
} from './provider-rules.ts';

const notAccessible = v.object({ message: v.pipe(v.string(), v.startsWith('Resource not accessible by ')) });

/** Providers without OpenID Connect. */
const profileApiProviders = {
  github: {
    ...usual,
    title: 'GitHub',
    scopes: ['read:user', 'user:email'],
    urls: {
      authorization: 'https://github.com/login/oauth/authorize',
      token: 'https://github.com/login/oauth/access_token',
    },
    profileUrls: { user: 'https://api.github.com/user', emails: 'https://api.github.com/user/emails' },
    profile: v.pipe(
      v.object({
        user: v.object({ id: v.pipe(v.number(), v.safeInteger(), v.minValue(1)), login: label, name: label }),
        emails: v.array(v.object({ email: v.string(), primary: v.boolean(), verified: v.boolean() })),
      }),
      v.transform(({ user: { id, login, name }, emails }) => ({
        id: String(id),
        name,
        username: login,
        addresses: emails.toSorted((a, b) => Number(b.primary) - Number(a.primary)),
      })),
    ),
    hiddenAddresses: '@users.noreply.github.com',
    // GitHub Apps have permissions instead of scopes. 403 is also GitHub's rate limit, with another message.
    appFault: (part, status, body) =>
      part === 'emails' && (status === 404 || (status === 403 && v.is(notAccessible, body)))
        ? 'GitHub does not give this app your email addresses. Its developer has to grant the GitHub App the account permission "Email addresses: read".'
        : undefined,
  },
  discord: {
    ...usual,
    title: 'Discord',
    scopes: ['identify', 'email'],
    urls: {
      authorization: 'https://discord.com/oauth2/authorize',
      token: 'https://discord.com/api/oauth2/token',
    },
    profileUrls: { user: 'https://discord.com/api/users/@me' },
    profile: v.pipe(
      v.object({
        user: v.object({
          id: v.pipe(v.string(), v.regex(/^[0-9]{1,20}$/)),
          username: label,
          global_name: label,
          email: v.nullish(v.string()),
          verified: v.optional(v.unknown()),
        }),
      }),
      v.transform(({ user: { id, username, global_name: name, email, verified } }) => ({
        id,
        name,
        username,
        addresses: vouchedFor(email, verified === true),
      })),
    ),
    sendsSecret: 'as Basic',
  },
  /** It does not return whether an address is verified, so none is requested. */
  facebook: {
    ...usual,
    title: 'Facebook',
    scopes: ['public_profile'],
    urls: {
      authorization: 'https://www.facebook.com/v24.0/dialog/oauth',
      token: 'https://graph.facebook.com/v24.0/oauth/access_token',
    },
    profileUrls: { user: 'https://graph.facebook.com/v24.0/me?fields=id,name' },
    profile: v.pipe(
      v.object({ user: v.object({ id: v.pipe(v.string(), v.regex(/^[0-9]{1,30}$/)), name: label }) }),
      v.transform(({ user: { id, name } }) => ({ id, name, username: undefined, addresses: [] })),
    ),
    verifiesAddresses: false,
    hasPkce: false,
  },
  /**
   * "This email address is unverified":
   * https://developer.spotify.com/documentation/web-api/reference/get-current-users-profile
   */
  spotify: {
    ...usual,
    title: 'Spotify',
    scopes: ['user-read-private'],
    urls: { authorization: 'https://accounts.spotify.com/authorize', token: 'https://accounts.spotify.com/api/token' },
    profileUrls: { user: 'https://api.spotify.com/v1/me' },
    profile: v.pipe(
      v.object({ user: v.object({ id: subject, display_name: label }) }),
      v.transform(({ user: { id, display_name: name } }) => ({ id, name, username: undefined, addresses: [] })),
    ),
    verifiesAddresses: false,
    sendsSecret: 'as Basic',
  },
} satisfies Readonly<Record<string, ProviderRules>>;

const { github, ...ofOwnApis } = profileApiProviders;

const providers = { github, ...openidProviders, ...ofOwnApis };

export type SocialProviderName = keyof typeof providers;
export const socialProviderNames = Object.keys(providers) as readonly SocialProviderName[];
export const socialProviders: Readonly<Record<SocialProviderName, ProviderRules>> = providers;

export const registrationFieldsOf = (name: SocialProviderName | OpenIdName): RegistrationFields =>
  isOpenIdName(name) ? withIssuer : socialProviders[name].registration;

export const forEachProvider = <T>(make: (name: SocialProviderName) => T): Record<SocialProviderName, T> =>
  Object.fromEntries(socialProviderNames.map((name) => [name, make(name)])) as Record<SocialProviderName, T>;

export const nameOfProvider = (provider: string): string =>
  isOpenIdName(provider)
    ? provider.slice('oidc:'.length)
    : (socialProviders[provider as SocialProviderName]?.title ?? provider);
