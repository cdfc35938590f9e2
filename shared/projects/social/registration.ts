/**
 * What a developer registers of a provider by their names in settings: texts, and one secret, which never comes back.
 */
export interface RegistrationFields {
  readonly texts: readonly RegistrationText[];
  readonly secret: RegistrationSecret;
}

export type RegistrationText = 'clientId' | 'teamId' | 'keyId' | 'issuer';
export type RegistrationSecret = 'clientSecret' | 'privateKey';

export const withClientSecret: RegistrationFields = { texts: ['clientId'], secret: 'clientSecret' };

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
