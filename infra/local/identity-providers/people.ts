import type { SocialProviderName } from '../../../shared/projects/social/providers.ts';

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
