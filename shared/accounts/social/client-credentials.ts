import { serviceSettings } from '../../core/config.ts';
import type { Project } from '../../projects/project.ts';
import { open } from '../../projects/sealed.ts';
import { clientSecretId, registrationWith } from '../../projects/social-registrations.ts';
import type { ClientCredentials, OAuthApp } from './oauth-client.ts';
import type { IdentityProvider } from './providers.ts';
import { signInFailed } from './sign-in-failure.ts';

/** The address that developers register with a provider. */
const callbackUrl = ({ name }: IdentityProvider): string =>
  `${serviceSettings().PUBLIC_URL}/api/userAuth/social/${name}/callback`;

/** The project's app at a provider that its developer has set up completely and enabled. */
export const requireApp = ({ socialProviders }: Project, provider: IdentityProvider): OAuthApp => {
  const { name, title } = provider;
  const { enabled, clientId, sealedClientSecret } = registrationWith(name, socialProviders);
  if (enabled && clientId !== null && sealedClientSecret !== null) return { clientId, callback: callbackUrl(provider) };
  throw signInFailed(`Signing in with ${title} is not enabled for this app.`);
};

/** The same with the client secret, opened. */
export const clientCredentials = async (project: Project, provider: IdentityProvider): Promise<ClientCredentials> => {
  const app = requireApp(project, provider);
  const { sealedClientSecret } = registrationWith(provider.name, project.socialProviders);
  const clientSecret = await open(sealedClientSecret ?? '', clientSecretId(project.id, provider.name));
  return { ...app, clientSecret };
};
