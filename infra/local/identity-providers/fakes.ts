import { generateKeyPairSync } from 'node:crypto';
import type { ServiceName } from 'emulate';
import {
  forEachProvider,
  type SocialProviderName,
  socialProviderNames,
  socialProviders,
} from '../../../shared/projects/social/providers.ts';
import type { SocialSettings } from '../../../shared/projects/social/settings.ts';
import type { OwnFake } from './people.ts';

/** A provider that the package `emulate` fakes. */
interface Emulation {
  readonly service: ServiceName;
  /** Users with an account. Without OAuth clients here, any client id and redirect URL works. */
  readonly seed: { readonly users: readonly object[] };
  /** Paths that differ from the provider's. */
  readonly paths: Readonly<Record<string, string>>;
}

/** The server in this folder fakes all other providers. */
export const emulations: Readonly<Record<Exclude<SocialProviderName, OwnFake>, Emulation>> = {
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

/** The fake servers, in the order of their ports. `openid` fakes all providers that the others do not. */
export const fakeNames = ['github', 'google', 'openid'] as const;
export type FakeName = (typeof fakeNames)[number];
export type FakeOrigins = Readonly<Record<FakeName, string>>;

const fakeOf = (provider: SocialProviderName): FakeName => fakeNames.find((name) => name === provider) ?? 'openid';

const pathOf = (provider: SocialProviderName, address: string, real: string): string => {
  const fake = fakeOf(provider);
  return fake === 'openid' ? `/${provider}/${address}` : (emulations[fake].paths[address] ?? new URL(real).pathname);
};

/** The settings that make functions use the fakes at these origins. */
export const fakeEnvironment = (origins: FakeOrigins): Record<string, string> => ({
  // An issuer for providers that are found by OpenID Connect discovery.
  OPENID_ISSUER_URL: `${origins.openid}/openid/issuer`,
  ...Object.fromEntries(
    socialProviderNames.flatMap((name) => {
      const { urls, profileUrls } = socialProviders[name];
      return Object.entries({ ...urls, ...profileUrls }).map(([address, real]) => [
        `${name}_${address}_URL`.toUpperCase(),
        origins[fakeOf(name)] + pathOf(name, address, real),
      ]);
    }),
  ),
});

const newPrivateKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Settings that enable every provider. The fakes accept any client id and secret. */
export const enableAllProviders = (clientId: string, clientSecret: string): Record<string, SocialSettings> =>
  forEachProvider((name) => {
    const { texts, secret } = socialProviders[name].registration;
    return {
      enabled: true,
      ...Object.fromEntries(texts.map((text) => [text, clientId])),
      [secret]: secret === 'privateKey' ? newPrivateKey() : clientSecret,
    };
  });
