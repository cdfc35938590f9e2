import { serviceSettings } from '../../core/config.ts';
import { findProjectById } from '../../projects/find-project-by-id.ts';
import type { Project } from '../../projects/project.ts';
import { open } from '../../projects/sealed.ts';
import { clientSecretId, missingOf, registrationWith } from '../../projects/social/registration.ts';
import { projectScope } from '../../table/item-key.ts';
import { signedClientSecret } from '../social/client-secret.ts';
import { outdated, type SocialReturn } from '../social/finish-sign-in.ts';
import { signInFailed } from '../social/landing.ts';
import type { ClientCredentials, OAuthApp } from '../social/oauth-client.ts';
import type { IdentityProvider } from '../social/providers.ts';
import { projectOfState, type SocialSite } from '../social/state.ts';
import { userSignIns } from '../stores/users.ts';
import { createAccount } from './create-account.ts';
import { requireUsers, type UserRecord } from './user-record.ts';

/** The address that developers register with a provider. */
export const callbackUrl = ({ name }: IdentityProvider): string =>
  `${serviceSettings().PUBLIC_URL}/api/userAuth/social/${name}/callback`;

/** The project's app at a provider that its developer has set up completely and enabled. */
const requireApp = ({ socialProviders }: Project, provider: IdentityProvider): OAuthApp => {
  const { name, title, registration } = provider;
  const { enabled, ...registered } = registrationWith(name, socialProviders);
  const { clientId } = registered;
  if (enabled && clientId !== null && missingOf(registration, { enabled, ...registered }) === undefined) {
    return { clientId, callback: callbackUrl(provider) };
  }
  throw signInFailed(`Signing in with ${title} is not enabled for this app.`);
};

/** The same with the client secret, opened. */
const clientCredentials = async (project: Project, provider: IdentityProvider): Promise<ClientCredentials> => {
  const app = requireApp(project, provider);
  const { sealedClientSecret, teamId, keyId } = registrationWith(provider.name, project.socialProviders);
  const secret = await open(sealedClientSecret ?? '', clientSecretId(project.id, provider.name));
  if (provider.registration.secret === 'clientSecret') return { ...app, clientSecret: secret };
  const signing = { clientId: app.clientId, teamId: teamId ?? '', keyId: keyId ?? '', privateKey: secret };
  return { ...app, clientSecret: await signedClientSecret(signing, provider.urls.issuer ?? '') };
};

/** Where users of a project begin to sign in: with accounts and the provider enabled. */
export const userSite = (project: Project): SocialSite => ({
  scope: projectScope(project.id),
  siteUrl: project.siteUrl,
  app: async (provider) => {
    await requireUsers(project);
    return requireApp(project, provider);
  },
});

/** Where they end: at the project that a state says it belongs to. A state that none can be read from → 400. */
export const userReturn = async (state: string): Promise<SocialReturn<UserRecord>> => {
  const projectId = projectOfState(state);
  const project = projectId === undefined ? undefined : await findProjectById(projectId);
  if (!project) throw outdated();
  return {
    store: userSignIns(project),
    siteUrl: project.siteUrl,
    credentials: (provider) => clientCredentials(project, provider),
    opening: async () => {
      const users = await requireUsers(project);
      return (newcomer) => createAccount(project, users, newcomer);
    },
    told: ({ account, isNew }) => ({
      projectId: project.id,
      userId: account._id.toHexString(),
      isNewUser: String(isNew),
    }),
  };
};
