import { generateKeyPairSync } from 'node:crypto';
import type { ServiceName } from 'emulate';
import {
  forEachProvider,
  type SocialProviderName,
  socialProviderNames,
  socialProviders,
} from '../../../shared/projects/social/providers.ts';
import type { SocialSettings } from '../../../shared/projects/social/settings.ts';

/** A person with an account at every fake provider, as claims of OpenID Connect. */
export interface Person {
  readonly sub: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly name: string;
  readonly preferred_username: string;
}

export const people: readonly Person[] = [
  { sub: '1001', email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace', preferred_username: 'ada' },
  { sub: '1002', email: 'grace@example.com', email_verified: true, name: 'Grace Hopper', preferred_username: 'grace' },
  {
    sub: '1003',
    email: 'unverified@example.com',
    email_verified: false,
    name: 'Not Verified',
    preferred_username: 'nobody',
  },
];

const openid = ({ sub, email, email_verified, name }: Person) => ({ sub, email, email_verified, name });

/** The providers that `emulate` does not fake. */
export type OwnFake = Exclude<SocialProviderName, 'github' | 'google'>;

/** A person's profile in the form of each provider. */
export const profiles: Readonly<Record<OwnFake, (person: Person) => object>> = {
  microsoft: ({ sub, email, name }) => ({ sub, email, name }),
  apple: openid,
  gitlab: (person) => ({ ...openid(person), nickname: person.preferred_username }),
  discord: ({ sub: id, preferred_username: username, name: global_name, email, email_verified: verified }) => ({
    id,
    username,
    global_name,
    email,
    verified,
  }),
  facebook: ({ sub: id, name }) => ({ id, name }),
  linkedin: openid,
  twitch: ({ name: _name, ...person }) => person,
  spotify: ({ preferred_username: id, name: display_name, email }) => ({ id, display_name, email }),
  slack: (person) => ({ ok: true, ...openid(person), 'https://slack.com/team_id': 'T0001' }),
};

/** The claims of an ID token about a person. Apple's flags are texts. */
export const idTokenClaims = (
  provider: string,
  { sub, email, email_verified, name }: Person,
): Record<string, unknown> =>
  provider === 'apple'
    ? { sub, email, email_verified: String(email_verified), nonce_supported: true }
    : { sub, email, email_verified, name };

/** The field `user` that Apple posts at a person's first sign-in. */
export const appleUser = ({ name, email }: Person): string => {
  const [firstName = '', lastName = ''] = name.split(' ');
  return JSON.stringify({ name: { firstName, lastName }, email });
};

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
