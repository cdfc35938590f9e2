import type { ServiceName } from 'emulate';
import {
  type SocialProviderName,
  socialProviderNames,
  socialProviders,
} from '../../shared/projects/social-providers.ts';

/** The emulation of an identity provider. */
interface StandIn {
  /** What `emulate` calls it. */
  readonly service: ServiceName;
  /** Preferred port, counted from that of the public API. */
  readonly place: number;
  /** Who has an account there. Without OAuth clients any client id and redirect address works. */
  readonly seed: { readonly users: readonly object[] };
  /** Paths of addresses that it has elsewhere than the provider. */
  readonly paths: Readonly<Record<string, string>>;
}

/** What stands for the identity providers on this machine. */
export const standIns: Readonly<Record<SocialProviderName, StandIn>> = {
  github: {
    service: 'github',
    place: 4,
    seed: {
      users: [
        { login: 'octocat', name: 'Octo Cat', email: 'octocat@example.com' },
        { login: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
        { login: 'linus', name: 'Linus', email: 'linus@example.com' },
      ],
    },
    paths: {},
  },
  google: {
    service: 'google',
    place: 5,
    seed: {
      users: [
        { email: 'ada@example.com', name: 'Ada Lovelace', email_verified: true },
        { email: 'grace@example.com', name: 'Grace Hopper', email_verified: true },
        { email: 'unverified@example.com', name: 'Not Verified', email_verified: false },
      ],
    },
    paths: { token: '/oauth2/token', user: '/oauth2/v2/userinfo' },
  },
};

/** The settings that send functions to the stand-ins, which are at these origins. */
export const standInEnvironment = (origins: Readonly<Record<SocialProviderName, string>>): Record<string, string> =>
  Object.fromEntries(
    socialProviderNames.flatMap((name) => {
      const { urls, profileUrls } = socialProviders[name];
      const { paths } = standIns[name];
      return Object.entries({ ...urls, ...profileUrls }).map(([address, real]) => [
        `${name}_${address}_URL`.toUpperCase(),
        origins[name] + (paths[address] ?? new URL(real).pathname),
      ]);
    }),
  );
