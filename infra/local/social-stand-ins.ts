import type { ServiceName } from 'emulate';
import {
  type SocialProviderName,
  socialProviderNames,
  socialProviders,
} from '../../shared/projects/social/providers.ts';
import type { StoodInHere } from './identity-providers/people.ts';

/** The emulation of an identity provider by `emulate`. */
interface Emulation {
  /** What `emulate` calls it. */
  readonly service: ServiceName;
  /** Who has an account there. Without OAuth clients any client id and redirect address works. */
  readonly seed: { readonly users: readonly object[] };
  /** Paths of addresses that it has elsewhere than the provider. */
  readonly paths: Readonly<Record<string, string>>;
}

/** What is emulated; our own identity-providers/ stands for all others. */
export const emulations: Readonly<Record<Exclude<SocialProviderName, StoodInHere>, Emulation>> = {
  github: {
    service: 'github',
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

/** Who stands for providers, in the order of their ports; `openid` for the others and for those by discovery. */
export const standIns = ['github', 'google', 'openid'] as const;
export type StandIn = (typeof standIns)[number];
export type StandInOrigins = Readonly<Record<StandIn, string>>;

const standInOf = (name: SocialProviderName): StandIn => standIns.find((standIn) => standIn === name) ?? 'openid';

const pathOf = (name: SocialProviderName, address: string, real: string): string => {
  const standIn = standInOf(name);
  return standIn === 'openid' ? `/${name}/${address}` : (emulations[standIn].paths[address] ?? new URL(real).pathname);
};

/** The settings that send functions to the stand-ins, which are at these origins. */
export const standInEnvironment = (origins: StandInOrigins): Record<string, string> => ({
  // An issuer for providers by discovery.
  OPENID_ISSUER_URL: `${origins.openid}/openid/issuer`,
  ...Object.fromEntries(
    socialProviderNames.flatMap((name) => {
      const { urls, profileUrls } = socialProviders[name];
      return Object.entries({ ...urls, ...profileUrls }).map(([address, real]) => [
        `${name}_${address}_URL`.toUpperCase(),
        origins[standInOf(name)] + pathOf(name, address, real),
      ]);
    }),
  ),
});
