import { openidProviders } from './social/openid-providers.ts';
import { profileApiProviders } from './social/profile-api-providers.ts';
import type { ProviderRules } from './social/provider-rules.ts';

/** The identity providers of social sign-in, by the names that paths and settings know them by. */
const { github, discord, facebook, spotify } = profileApiProviders;
const { google, microsoft, apple, gitlab, linkedin, twitch, slack } = openidProviders;
const providers = {
  github,
  google,
  microsoft,
  apple,
  gitlab,
  discord,
  facebook,
  linkedin,
  twitch,
  spotify,
  slack,
};

export type SocialProviderName = keyof typeof providers;
export const socialProviderNames = Object.keys(providers) as readonly SocialProviderName[];
export const socialProviders: Readonly<Record<SocialProviderName, ProviderRules>> = providers;

export const forEachProvider = <T>(make: (name: SocialProviderName) => T): Record<SocialProviderName, T> =>
  Object.fromEntries(socialProviderNames.map((name) => [name, make(name)])) as Record<SocialProviderName, T>;
