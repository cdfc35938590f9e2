import * as v from 'valibot';

/** An e-mail address of a profile, and whether the provider has verified it. */
export interface ProfileAddress {
  readonly email: string;
  readonly verified: boolean;
}

/** What a provider tells of somebody, in its own words: nothing of it is known to be fit to be kept or shown. */
export interface ToldProfile {
  /** Never changes. */
  readonly id: string;
  readonly name: unknown;
  readonly username: unknown;
  /** The main one first. */
  readonly addresses: readonly ProfileAddress[];
}

/** All that one provider differs in from another; the flow, and what a developer registers with it, is the same. */
export interface ProviderRules {
  /** Its name for people. */
  readonly title: string;
  readonly scopes: readonly string[];
  /** Where the browser is sent, and where codes are redeemed with PKCE. */
  readonly urls: { readonly authorization: string; readonly token: string };
  /** Name → what to read with the token; all the answers together have to fit `profile`. */
  readonly profileUrls: Readonly<Record<string, string>>;
  readonly profile: v.GenericSchema<unknown, ToldProfile>;
  /** How addresses end that stand for hidden ones, where nobody reads mail; `null` where there are none. */
  readonly hiddenAddresses: string | null;
}

const label = v.optional(v.unknown());

/** The identity providers of social sign-in, by the names that paths and settings know them by. */
const providers = {
  github: {
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
  },
  google: {
    title: 'Google',
    scopes: ['openid', 'email', 'profile'],
    urls: {
      authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
      token: 'https://oauth2.googleapis.com/token',
    },
    profileUrls: { user: 'https://openidconnect.googleapis.com/v1/userinfo' },
    profile: v.pipe(
      v.object({
        user: v.object({
          sub: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/)),
          email: v.string(),
          email_verified: v.boolean(),
          name: label,
        }),
      }),
      v.transform(({ user: { sub, email, email_verified: verified, name } }) => ({
        id: sub,
        name,
        username: undefined,
        addresses: [{ email, verified }],
      })),
    ),
    hiddenAddresses: null,
  },
} satisfies Readonly<Record<string, ProviderRules>>;

export type SocialProviderName = keyof typeof providers;
export const socialProviderNames = Object.keys(providers) as readonly SocialProviderName[];
export const socialProviders: Readonly<Record<SocialProviderName, ProviderRules>> = providers;

export const forEachProvider = <T>(make: (name: SocialProviderName) => T): Record<SocialProviderName, T> =>
  Object.fromEntries(socialProviderNames.map((name) => [name, make(name)])) as Record<SocialProviderName, T>;

/** A project's registration with a provider. The client secret is sealed to `clientSecretId`. */
export interface SocialRegistration {
  readonly enabled: boolean;
  readonly clientId: string | null;
  readonly sealedClientSecret: string | null;
}

/** As the project's record keeps them: what was never set is not there. */
export type SocialRegistrations = Readonly<Partial<Record<SocialProviderName, Partial<SocialRegistration>>>>;

const unset: SocialRegistration = { enabled: false, clientId: null, sealedClientSecret: null };

export const registrationWith = (
  name: SocialProviderName,
  registrations: SocialRegistrations | undefined,
): SocialRegistration => ({ ...unset, ...registrations?.[name] });

/** What a client secret is sealed to: the project's record and the provider's place in it. */
export const clientSecretId = (projectId: string, name: SocialProviderName): string => `${projectId}/social/${name}`;
