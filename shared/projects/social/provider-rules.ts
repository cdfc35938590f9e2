import * as v from 'valibot';

/**
 * What a developer registers of a provider by their names in settings: texts, and one secret, which never comes back.
 */
export interface RegistrationFields {
  readonly texts: readonly RegistrationText[];
  readonly secret: RegistrationSecret;
}

export type RegistrationText = 'clientId' | 'teamId' | 'keyId' | 'issuer';
export type RegistrationSecret = 'clientSecret' | 'privateKey';

const withClientSecret: RegistrationFields = { texts: ['clientId'], secret: 'clientSecret' };

/** Apple's client secret is a token, which the key signs. */
export const withPrivateKey: RegistrationFields = { texts: ['clientId', 'teamId', 'keyId'], secret: 'privateKey' };

/** Providers by OpenID Connect discovery. */
export const withIssuer: RegistrationFields = { texts: ['issuer', 'clientId'], secret: 'clientSecret' };

/**
 * A project's registration with a provider; of its texts those that the provider has. `sealedClientSecret` is the
 * secret, or the key that signs one, sealed to `clientSecretId`.
 */
export interface SocialRegistration extends Readonly<Partial<Record<RegistrationText, string | null>>> {
  readonly enabled: boolean;
  readonly clientId: string | null;
  readonly sealedClientSecret: string | null;
}

/** As the project's record keeps them, by the provider's name: what was never set is not there. */
export type SocialRegistrations = Readonly<Record<string, Partial<SocialRegistration>>>;

const unset: SocialRegistration = { enabled: false, clientId: null, sealedClientSecret: null };

export const registrationWith = (name: string, registrations: SocialRegistrations | undefined): SocialRegistration => ({
  ...unset,
  ...(registrations && Object.hasOwn(registrations, name) ? registrations[name] : {}),
});

/** The names of the providers that are enabled, which none can be that lacks something. */
export const enabledProviders = (registrations: SocialRegistrations): readonly string[] =>
  Object.keys(registrations).filter((name) => registrationWith(name, registrations).enabled);

/** The first thing that a provider lacks to be enabled. */
export const missingOf = (
  { texts, secret }: RegistrationFields,
  registration: SocialRegistration,
): RegistrationText | RegistrationSecret | undefined =>
  texts.find((text) => typeof registration[text] !== 'string') ??
  (registration.sealedClientSecret === null ? secret : undefined);

/** What a client secret is sealed to: the project's record and the provider's place in it. */
export const clientSecretId = (projectId: string, name: string): string => `${projectId}/social/${name}`;

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

/** Its places by what they are for; a type, so that they can be listed by name. */
type ProviderUrls = {
  readonly authorization: string;
  readonly token: string;
  /** Of the keys that sign its ID tokens, and the issuer that these name: those that have any are read by them. */
  readonly keys?: string;
  readonly issuer?: string;
};

/** All that one provider differs in from another; the flow is the same. */
export interface ProviderRules {
  /** Its name for people. */
  readonly title: string;
  readonly scopes: readonly string[];
  /** What a developer registers of it here. */
  readonly registration: RegistrationFields;
  /** Where the browser is sent, and where codes are redeemed. */
  readonly urls: ProviderUrls;
  /** Name → what to read with the token; all the answers together have to fit `profile`. */
  readonly profileUrls: Readonly<Record<string, string>>;
  /** Reads the answers; beside them `claims` of an ID token that was verified, and `form`, what the browser brought. */
  readonly profile: v.GenericSchema<unknown, ToldProfile>;
  /** How addresses end that stand for hidden ones, where nobody reads mail; `null` where there are none. */
  readonly hiddenAddresses: string | null;
  /** False where its addresses are whatever somebody typed: it signs in by identity alone. */
  readonly verifiesAddresses: boolean;
  /** Whether codes are bound by PKCE; an ID token binds its code by a nonce besides. */
  readonly hasPkce: boolean;
  /** How the client secret is sent with a code. */
  readonly sendsSecret: 'in the body' | 'as Basic';
  /** What its developer has to change about the app where part of a profile is refused; `undefined`: nothing known. */
  readonly appFault: (part: string, status: number, body: unknown) => string | undefined;
  /** What the address of its page has besides what OAuth asks for. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Of one request to a provider; a sign-in makes a few in a row, well within the function's own limit. */
export const providerLimits = { limitMs: 5000, maxBytes: 256 * 1024 } as const;

/** What most providers have in common. */
export const usual = {
  registration: withClientSecret,
  hiddenAddresses: null,
  verifiesAddresses: true,
  hasPkce: true,
  sendsSecret: 'in the body',
  appFault: () => undefined,
  parameters: {},
} as const satisfies Partial<ProviderRules>;

/** What may be anything, as it is only shown. */
export const label = v.optional(v.unknown());

/** Letters, digits and signs, as a provider's ids are. */
export const subject = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/));

/** A verified address alone, or none. */
export const vouchedFor = (email: string | null | undefined, verified: boolean): readonly ProfileAddress[] =>
  email ? [{ email, verified }] : [];

/** A provider by OpenID Connect discovery: `oidc:` and a name that the developer chose. */
export type OpenIdName = `oidc:${string}`;

export const openIdNameShape = /^oidc:[a-z0-9-]{1,32}$/;

export const isOpenIdName = (name: string): name is OpenIdName => openIdNameShape.test(name);

/** How many a project may have. */
export const maxOpenIdProviders = 5;
