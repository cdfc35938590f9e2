import { isOpenIdName, type OpenIdName } from './social/openid-names.ts';
import { openidProviders } from './social/openid-providers.ts';
import { profileApiProviders } from './social/profile-api-providers.ts';
import type { ProviderRules } from './social/provider-rules.ts';
import { type RegistrationFields, withIssuer } from './social/registration.ts';

const { github, ...ofOwnApis } = profileApiProviders;

/** The identity providers of social sign-in, by the names that paths and settings know them by, as they are listed. */
const providers = { github, ...openidProviders, ...ofOwnApis };

export type SocialProviderName = keyof typeof providers;
export const socialProviderNames = Object.keys(providers) as readonly SocialProviderName[];
export const socialProviders: Readonly<Record<SocialProviderName, ProviderRules>> = providers;

/** What is registered of a provider, one by discovery included. */
export const registrationFieldsOf = (name: SocialProviderName | OpenIdName): RegistrationFields =>
  isOpenIdName(name) ? withIssuer : socialProviders[name].registration;

export const forEachProvider = <T>(make: (name: SocialProviderName) => T): Record<SocialProviderName, T> =>
  Object.fromEntries(socialProviderNames.map((name) => [name, make(name)])) as Record<SocialProviderName, T>;

/** A provider's name for people: ours, or what the project calls it. */
export const nameOfProvider = (provider: string): string =>
  isOpenIdName(provider)
    ? provider.slice('oidc:'.length)
    : (socialProviders[provider as SocialProviderName]?.title ?? provider);
