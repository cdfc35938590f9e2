/** The identity providers of social sign-in, by the names that paths and settings know them by. */
export const socialProviderNames = ['github', 'google'] as const;
/** Name of an identity provider. */
export type SocialProviderName = (typeof socialProviderNames)[number];

/** A project's registration with a provider. The client secret is sealed to `clientSecretId`. */
export interface SocialProvider {
  readonly enabled: boolean;
  readonly clientId: string | null;
  readonly sealedClientSecret: string | null;
}

/** As the project's record keeps them: what was never set is not there. */
export type SocialProviders = Readonly<Partial<Record<SocialProviderName, Partial<SocialProvider>>>>;

const unset: SocialProvider = { enabled: false, clientId: null, sealedClientSecret: null };

/** The registration with one provider, complete. */
export const socialProvider = (providers: SocialProviders | undefined, name: SocialProviderName): SocialProvider => ({
  ...unset,
  ...providers?.[name],
});

/** What a client secret is sealed to: the project's record and the provider's place in it. */
export const clientSecretId = (projectId: string, name: SocialProviderName): string => `${projectId}/social/${name}`;
