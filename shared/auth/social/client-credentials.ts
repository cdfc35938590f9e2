import type { Project } from '../../projects/project.ts';
import { clientSecretId, socialProvider } from '../../projects/social-providers.ts';
import { open } from '../../secrets/sealed.ts';
import type { ClientCredentials } from './oauth-client.ts';
import type { IdentityProvider } from './providers.ts';
import { signInFailed } from './sign-in-failure.ts';

/** The project's client id at a provider that its developer has set up completely and enabled. */
export const requireClientId = ({ socialProviders }: Project, { name, title }: IdentityProvider): string => {
  const { enabled, clientId, sealedClientSecret } = socialProvider(socialProviders, name);
  if (enabled && clientId !== null && sealedClientSecret !== null) return clientId;
  throw signInFailed(`Signing in with ${title} is not enabled for this app.`);
};

/** The same with the client secret, opened. */
export const clientCredentials = async (project: Project, provider: IdentityProvider): Promise<ClientCredentials> => {
  const clientId = requireClientId(project, provider);
  const { sealedClientSecret } = socialProvider(project.socialProviders, provider.name);
  const clientSecret = await open(sealedClientSecret ?? '', clientSecretId(project.id, provider.name));
  return { clientId, clientSecret };
};
