import type { SocialProviderName } from './social-providers.ts';

/** A project's registration with a provider. The client secret is sealed to `clientSecretId`. */
export interface SocialRegistration {
  readonly enabled: boolean;
  readonly clientId: string | null;
  readonly sealedClientSecret: string | null;
}

/** As the project's record keeps them: what was never set is not there. */
export type SocialRegistrations = Readonly<Partial<Record<SocialProviderName, Partial<SocialRegistration>>>>;

const unset: SocialRegistration = { enabled: false, clientId: null, sealedClientSecret: null };

/** The registration with one provider, complete. */
export const registrationWith = (
  name: SocialProviderName,
  registrations: SocialRegistrations | undefined,
): SocialRegistration => ({ ...unset, ...registrations?.[name] });

/** What a client secret is sealed to: the project's record and the provider's place in it. */
export const clientSecretId = (projectId: string, name: SocialProviderName): string => `${projectId}/social/${name}`;
