import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import * as v from 'valibot';
import { passkeyIndex } from '../../collections/indexes/indexes.ts';
import { nowSeconds } from '../../core/clock.ts';
import { serviceSettings } from '../../core/config.ts';
import { cutText } from '../../core/text.ts';
import { projectScope } from '../../persistence/item-keys.ts';
import { findProjectById } from '../../projects/find-project.ts';
import type { Project } from '../../projects/project.ts';
import { open } from '../../projects/sealed.ts';
import { formName } from '../../projects/social/openid-providers.ts';
import {
  clientSecretId,
  isOpenIdName,
  missingOf,
  registrationWith,
  type SocialRegistration,
} from '../../projects/social/provider-rules.ts';
import { relyingParty, startRegistration } from '../passkeys/passkey.ts';
import { requireSession } from '../sessions.ts';
import { signInFailed } from '../social/ask-provider.ts';
import { type SocialReturn, stateInvalid } from '../social/finish-sign-in.ts';
import type { ClientCredentials, OAuthApp } from '../social/oauth-client.ts';
import {
  type IdentityProvider,
  openIdProvider,
  type ProviderLoad,
  requireProvider,
  unknownProvider,
} from '../social/providers.ts';
import { projectOfState, type SocialSite } from '../social/start-sign-in.ts';
import { type Bearer, verifyAccessToken } from '../tokens.ts';
import { createAccount } from './sign-up.ts';
import { requireUsers, type UserRecord, userAccounts, userRecords, userSignIns } from './users.ts';

/** Includes the project's OpenID providers. Throws 404 `UNKNOWN_PROVIDER`. */
export const userProvider = (project: Project | undefined, path: string): ProviderLoad => {
  if (!isOpenIdName(path)) {
    const provider = requireProvider(path);
    return async () => provider;
  }
  const { issuer } = registrationWith(path, project?.socialProviders);
  if (!issuer) throw unknownProvider();
  return () => openIdProvider(path, issuer);
};

/** The callback that developers register with a provider. */
const callbackUrl = ({ name }: Pick<IdentityProvider, 'name'>): string =>
  `${serviceSettings().PUBLIC_URL}/api/userAuth/social/${name}/callback`;

/** The gateway accepts 10,240 bytes of URL and headers; an encoded emoji takes 12. */
const maxUserBytes = 2000;
const maxNameLength = 100;

/** Apple's `user`, reduced to a shortened name if it is too long for a URL. */
const carriedUser = (user: string): string => {
  if (String(new URLSearchParams({ user })).length <= maxUserBytes) return user;
  return JSON.stringify({ name: { firstName: cutText(v.parse(formName, user), maxNameLength) } });
};

/** Apple posts the callback from its own site, without our `Lax` cookie. Redirecting makes the browser send both. */
export const forwardSignIn = (
  provider: Pick<IdentityProvider, 'name'>,
  form: Readonly<Record<string, string | undefined>>,
): string => {
  const url = new URL(callbackUrl(provider));
  for (const [name, value] of Object.entries(form)) if (value !== undefined) url.searchParams.set(name, value);
  if (form.user !== undefined) url.searchParams.set('user', carriedUser(form.user));
  return url.href;
};

/** Throws `SOCIAL_SIGN_IN_FAILED` unless the provider is set up and enabled. */
const requireApp = ({ socialProviders }: Project, provider: IdentityProvider): OAuthApp => {
  const { name, title, registration } = provider;
  const { enabled, ...registered } = registrationWith(name, socialProviders);
  const { clientId } = registered;
  if (enabled && clientId !== null && missingOf(registration, { enabled, ...registered }) === undefined) {
    return { clientId, callback: callbackUrl(provider) };
  }
  throw signInFailed(`Signing in with ${title} is not enabled for this app.`);
};

/**
 * Apple's client secret, a token signed with the developer's key:
 * https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
 */
const signedSecret = (
  { clientId, teamId, keyId }: SocialRegistration,
  privateKey: string,
  audience: string,
): Promise<string> =>
  new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: keyId ?? '' })
    .setIssuer(teamId ?? '')
    .setSubject(clientId ?? '')
    .setAudience(audience)
    .setIssuedAt(nowSeconds())
    .setExpirationTime(nowSeconds() + 300)
    .sign(createPrivateKey(privateKey));

const clientCredentials = async (project: Project, provider: IdentityProvider): Promise<ClientCredentials> => {
  const app = requireApp(project, provider);
  const registered = registrationWith(provider.name, project.socialProviders);
  const secret = await open(registered.sealedClientSecret ?? '', clientSecretId(project.id, provider.name));
  if (provider.registration.secret === 'clientSecret') return { ...app, clientSecret: secret };
  return { ...app, clientSecret: await signedSecret(registered, secret, provider.urls.issuer ?? '') };
};

/** The user who is signed in while starting a sign-in. Throws 401 `TOKEN_INVALID`. */
export const begunBy = async (project: Project, token: string | undefined): Promise<string | undefined> => {
  if (token === undefined) return undefined;
  const { userId, sessionId } = await verifyAccessToken(project, token);
  await requireSession(projectScope(project.id), userId, sessionId);
  return userId;
};

export const userSite = (project: Project): SocialSite => ({
  scope: projectScope(project.id),
  siteUrl: project.siteUrl,
  app: async (provider) => {
    await requireUsers(project);
    return requireApp(project, provider);
  },
});

/** The store and site of the project in `state`. Throws `SOCIAL_SIGN_IN_FAILED` if there is none. */
export const userReturn = async (
  state: string,
  path: string,
): Promise<SocialReturn<UserRecord> & { readonly provider: ProviderLoad }> => {
  const projectId = projectOfState(state);
  const project = projectId === undefined ? undefined : await findProjectById(projectId);
  const provider = userProvider(project, path);
  if (!project) throw stateInvalid();
  const store = userSignIns(project);
  return {
    provider,
    store,
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

/** Creates the index of passkeys in older collections. */
export const startUserRegistration = async (project: Project, bearer: Bearer) => {
  const options = await startRegistration(userAccounts(project), relyingParty(project), bearer);
  await userRecords(project).on((users) => users.createIndexes([passkeyIndex]));
  return options;
};
