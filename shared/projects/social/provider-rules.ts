import * as v from 'valibot';

/** What a developer registers: texts, and one secret that is never returned. */
export interface RegistrationFields {
  readonly texts: readonly RegistrationText[];
  readonly secret: RegistrationSecret;
}

export type RegistrationText = 'clientId' | 'teamId' | 'keyId' | 'issuer';
export type RegistrationSecret = 'clientSecret' | 'privateKey';

const withClientSecret: RegistrationFields = { texts: ['clientId'], secret: 'clientSecret' };

/** Apple's client secret is a token signed with the key. */
export const withPrivateKey: RegistrationFields = { texts: ['clientId', 'teamId', 'keyId'], secret: 'privateKey' };

/** OpenID Connect discovery. */
export const withIssuer: RegistrationFields = { texts: ['issuer', 'clientId'], secret: 'clientSecret' };

/** `sealedClientSecret`: the secret or signing key, sealed to `clientSecretId`. */
export interface SocialRegistration extends Readonly<Partial<Record<RegistrationText, string | null>>> {
  readonly enabled: boolean;
  readonly clientId: string | null;
  readonly sealedClientSecret: string | null;
}

export type SocialRegistrations = Readonly<Record<string, Partial<SocialRegistration>>>;

const unset: SocialRegistration = { enabled: false, clientId: null, sealedClientSecret: null };

export const registrationWith = (name: string, registrations: SocialRegistrations | undefined): SocialRegistration => ({
  ...unset,
  ...(registrations && Object.hasOwn(registrations, name) ? registrations[name] : {}),
});

export const enabledProviders = (registrations: SocialRegistrations): readonly string[] =>
  Object.keys(registrations).filter((name) => registrationWith(name, registrations).enabled);

/** The first missing field that enabling needs. */
export const missingOf = (
  { texts, secret }: RegistrationFields,
  registration: SocialRegistration,
): RegistrationText | RegistrationSecret | undefined =>
  texts.find((text) => typeof registration[text] !== 'string') ??
  (registration.sealedClientSecret === null ? secret : undefined);

/** The context to which the client secret is sealed. */
export const clientSecretId = (projectId: string, name: string): string => `${projectId}/social/${name}`;

export interface ProfileAddress {
  readonly email: string;
  readonly verified: boolean;
}

/** A profile as the provider returns it; unchecked. */
export interface ToldProfile {
  /** Never changes. */
  readonly id: string;
  readonly name: unknown;
  readonly username: unknown;
  readonly addresses: readonly ProfileAddress[];
}

/** A type alias instead of an interface, so that its keys can be listed. */
type ProviderUrls = {
  readonly authorization: string;
  readonly token: string;
  /** Keys and issuer of ID tokens; without them there is no ID token. */
  readonly keys?: string;
  readonly issuer?: string;
};

export interface ProviderRules {
  readonly title: string;
  readonly scopes: readonly string[];
  readonly registration: RegistrationFields;
  readonly urls: ProviderUrls;
  /** Name → URL to request with the token; `profile` reads all responses together. */
  readonly profileUrls: Readonly<Record<string, string>>;
  /** Reads the responses, the `claims` of a verified ID token, and `form`, which the browser sent. */
  readonly profile: v.GenericSchema<unknown, ToldProfile>;
  /** Suffix of relay addresses that nobody reads; `null` if there are none. */
  readonly hiddenAddresses: string | null;
  /** False if addresses are unverified: accounts are matched by identity only. */
  readonly verifiesAddresses: boolean;
  /** PKCE binds codes; an ID token also binds its code by a nonce. */
  readonly hasPkce: boolean;
  readonly sendsSecret: 'in the body' | 'as Basic';
  /** Returns what the developer must change about the app if part of a profile is rejected; `undefined` if unknown. */
  readonly appFault: (part: string, status: number, body: unknown) => string | undefined;
  /** Additional parameters of the authorization URL. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Per request; a sign-in makes a few in a row, within the function's limit. */
export const providerLimits = { limitMs: 5000, maxBytes: 256 * 1024 } as const;

export const usual = {
  registration: withClientSecret,
  hiddenAddresses: null,
  verifiesAddresses: true,
  hasPkce: true,
  sendsSecret: 'in the body',
  appFault: () => undefined,
  parameters: {},
} as const satisfies Partial<ProviderRules>;

/** Only displayed, so anything is accepted. */
export const label = v.optional(v.unknown());

export const subject = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/));

/** Returns the address if it is verified. */
export const vouchedFor = (email: string | null | undefined, verified: boolean): readonly ProfileAddress[] =>
  email ? [{ email, verified }] : [];

/** OpenID Connect discovery: `oidc:` and a name that the developer chose. */
export type OpenIdName = `oidc:${string}`;

export const openIdNameShape = /^oidc:[a-z0-9-]{1,32}$/;

export const isOpenIdName = (name: string): name is OpenIdName => openIdNameShape.test(name);

/** Per project. */
export const maxOpenIdProviders = 5;
