import * as v from 'valibot';
import { addressesOf } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import {
  forEachProvider,
  type SocialProviderName,
  socialProviderNames,
  socialProviders,
} from '../../projects/social-providers.ts';
import { profileFrom, type SocialProfile } from './profile.ts';

/** A provider as the flow uses it. */
export interface IdentityProvider {
  readonly name: SocialProviderName;
  /** Its name for people. */
  readonly title: string;
  readonly scopes: readonly string[];
  /** Where the browser is sent, and where codes are redeemed. */
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  /** Name → what to read with the token; all the answers together have to fit `profile`. */
  readonly profileUrls: Readonly<Record<string, string>>;
  readonly profile: v.GenericSchema<unknown, SocialProfile>;
}

/** Only the local emulation and tests set other places than the real ones. */
const places = forEachProvider((name) => {
  const { urls, profileUrls } = socialProviders[name];
  return { urls: addressesOf(name, urls), profileUrls: addressesOf(name, profileUrls) };
});

/** The provider that a path names; any other name → 404 `UNKNOWN_PROVIDER`. */
export const requireProvider = (path: string): IdentityProvider => {
  const name = socialProviderNames.find((known) => known === path);
  if (!name) {
    throw new AppError('UNKNOWN_PROVIDER', `There is no such provider. Use one of: ${socialProviderNames.join(', ')}.`);
  }
  const { title, scopes, profile, hiddenAddresses } = socialProviders[name];
  const { authorization, token } = places[name].urls();
  return {
    name,
    title,
    scopes,
    authorizationUrl: authorization,
    tokenUrl: token,
    profileUrls: places[name].profileUrls(),
    profile: v.pipe(
      profile,
      v.transform((told) => profileFrom(told, hiddenAddresses)),
    ),
  };
};
