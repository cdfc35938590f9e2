import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { developerAccounts, setPlan, signUpDeveloper } from '../../shared/accounts/developers/developers.ts';
import { markVerified } from '../../shared/accounts/email-proofs.ts';
import { startSession } from '../../shared/accounts/refresh-sessions.ts';
import { issueDashboardToken, newSigningKey } from '../../shared/accounts/tokens.ts';
import { type CollectionInput, createCollection } from '../../shared/collections/create-collection.ts';
import { findProjectByKey } from '../../shared/collections/find-project-by-key.ts';
import { AppError } from '../../shared/core/errors.ts';
import { developerScope } from '../../shared/persistence/item-keys.ts';
import { updateProject } from '../../shared/projects/change-project.ts';
import { createProject } from '../../shared/projects/create-project.ts';
import { findOwnedProject } from '../../shared/projects/find-project.ts';
import type { NewProject } from '../../shared/projects/settings.ts';
import { enableAllProviders } from './identity-providers/fakes.ts';

/** A project with its keys, which the API shows only when they are created. */
export interface ProjectKeys {
  readonly projectId: string;
  readonly publishableKey: string;
  readonly secretKey: string;
}

/** The demo project and its developer. */
export interface Demo extends ProjectKeys {
  readonly developer: { readonly email: string; readonly password: string };
}

/** For scripts, which do not refresh their token; other tokens expire after 15 minutes. */
const tokenSeconds = 12 * 3600;

/** The usual address of an app in development. Links in emails and sign-ins lead there. */
const demoSite = 'http://localhost:3000';

/** `users` must be the first, because the others refer to it. */
export const demoCollections: Readonly<Record<string, CollectionInput>> = {
  users: {
    schema: [
      { key: 'email', type: 'String', required: true, unique: true },
      { key: 'password', type: 'String', required: true },
      { key: 'username', type: 'String', unique: true },
      { key: 'name', type: 'String' },
    ],
  },
  posts: {
    schema: [
      { key: 'title', type: 'String', required: true },
      { key: 'views', type: 'Number', default: 0 },
      { key: 'published', type: 'Boolean', default: false },
      { key: 'publishedAt', type: 'Date' },
      {
        key: 'meta',
        type: 'Object',
        fields: [
          { key: 'source', type: 'String' },
          { key: 'score', type: 'Number' },
        ],
      },
      { key: 'tags', type: 'Array', items: { type: 'String' } },
      { key: 'author', type: 'Ref', ref: 'users' },
    ],
  },
  notes: { schema: null },
  todos: {
    schema: [
      { key: 'task', type: 'String', required: true },
      { key: 'done', type: 'Boolean', default: false },
    ],
    rls: { enabled: true, mode: 'private', ownerField: 'userId' },
    changes: true,
  },
};

const client = { ip: '127.0.0.1', userAgent: 'npm start' };

const register = async (): Promise<{ readonly developer: Demo['developer']; readonly developerId: string }> => {
  const password = randomBytes(12).toString('base64url');
  const open = async (email: string) => ({
    developer: { email, password },
    developerId: (await signUpDeveloper({ email, password }, client)).account._id.toHexString(),
  });
  try {
    return await open('demo@basalt.local');
  } catch (error) {
    // The account exists, but the file with its password was deleted.
    if (!(error instanceof AppError && error.code === 'DEVELOPER_EXISTS')) throw error;
    return open(`demo-${randomBytes(4).toString('hex')}@basalt.local`);
  }
};

type Collections = Readonly<Record<string, CollectionInput>>;

/** Creates a project with these collections for a developer on the plan `pro`. */
export const seedProject = async (
  ownerId: string,
  settings: NewProject,
  collections: Collections,
): Promise<ProjectKeys> => {
  const owner = { id: ownerId, plan: 'pro' } as const;
  const project = await createProject(owner, { ...settings, authEnabled: true }, newSigningKey);
  const { _id, publishableKey, secretKey } = project;
  const match = await findProjectByKey(secretKey, '');
  if (!match) throw new Error(`The project ${settings.name} cannot be found`);
  for (const [name, collection] of Object.entries(collections)) {
    await createCollection(match.project, name, collection);
  }
  return { projectId: _id, publishableKey, secretKey };
};

const create = async (issuer: string): Promise<Demo> => {
  const { developer, developerId } = await register();
  await setPlan(developer.email, 'pro');
  const signIn = { emailCode: true, anonymous: true, secondFactor: 'optional' } as const;
  const keys = await seedProject(developerId, { name: 'Demo', siteUrl: demoSite, signIn }, demoCollections);
  const owned = await findOwnedProject(developerId, keys.projectId);
  const byDiscovery = { 'oidc:local': { enabled: true, issuer, clientId: 'demo', clientSecret: 'demo' } };
  const socialProviders = { ...enableAllProviders('demo', 'demo'), ...byDiscovery };
  if (owned) await updateProject(owned, { socialProviders });
  return { developer, ...keys };
};

/**
 * Returns the demo of an earlier start, or creates a new one if there is none. `issuer` is for its provider
 * `oidc:local`. The new `dashboardToken` is valid for 12 h.
 */
export const provideDemo = async (
  earlier: Demo | undefined,
  issuer: string,
): Promise<Demo & { readonly dashboardToken: string }> => {
  const known = earlier && (await findProjectByKey(earlier.secretKey, ''));
  const demo = earlier && known ? earlier : await create(issuer);
  const owner = known ?? (await findProjectByKey(demo.secretKey, ''));
  if (!owner) throw new Error('The demo project cannot be found');
  const { ownerId } = owner.project;
  await markVerified(developerAccounts, { _id: new ObjectId(ownerId) });
  const { sessionId } = await startSession(developerScope, ownerId, client);
  const { accessToken } = await issueDashboardToken({ userId: ownerId, sessionId }, tokenSeconds);
  const { developer, projectId, publishableKey, secretKey } = demo;
  return { developer, projectId, publishableKey, secretKey, dashboardToken: accessToken };
};
