import { type Document, ObjectId } from 'mongodb';
import { serviceSettings } from '../core/config.ts';
import type { PageRequest } from '../core/values.ts';
import { viewOf } from '../core/values.ts';
import { findPage } from '../persistence/records.ts';
import { findOwner, roleIn } from './find-project.ts';
import type { PlanName, ProjectRecord } from './project.ts';
import { projectRecords } from './project.ts';
import { isOpenIdName, type OpenIdName, type RegistrationText, registrationWith } from './social/provider-rules.ts';
import { forEachProvider, registrationFieldsOf, type SocialProviderName } from './social/providers.ts';
import { signInMethods, userUploads } from './user-settings.ts';

const asItIs = [
  '_id',
  'name',
  'siteUrl',
  'publishableKey',
  'secretKeyHint',
  'allowedDomains',
  'allowPublicSignup',
  'authEnabled',
  'createdAt',
  'updatedAt',
] as const;

export interface SocialView extends Readonly<Partial<Record<RegistrationText, string | null>>> {
  readonly enabled: boolean;
  readonly hasClientSecret?: boolean;
  readonly hasPrivateKey?: boolean;
}

/** What the dashboard returns: no hashes and no sealed secrets. */
export type ProjectView = ReturnType<typeof toProjectView>;

const toSocialView = (record: ProjectRecord, name: SocialProviderName | OpenIdName): SocialView => {
  const { texts, secret } = registrationFieldsOf(name);
  const registration = registrationWith(name, record.socialProviders);
  const isKept = registration.sealedClientSecret !== null;
  return {
    enabled: registration.enabled,
    ...Object.fromEntries(texts.map((text) => [text, registration[text] ?? null])),
    ...(secret === 'clientSecret' ? { hasClientSecret: isKept } : { hasPrivateKey: isKept }),
  };
};

export const toProjectView = (record: ProjectRecord, plan: PlanName) => ({
  ...viewOf(record, asItIs),
  apiUrl: serviceSettings().PUBLIC_URL,
  plan,
  signIn: signInMethods(record.signIn),
  strictSessions: record.strictSessions ?? false,
  uploads: userUploads(record.uploads),
  directory: record.directory ?? null,
  socialProviders: {
    ...forEachProvider((name) => toSocialView(record, name)),
    ...Object.fromEntries(
      Object.keys(record.socialProviders ?? {})
        .filter(isOpenIdName)
        .map((name) => [name, toSocialView(record, name)]),
    ),
  },
  hasProviderApiKey: Boolean(record.sealedProviderApiKey),
  hasProviderWebhookSecret: Boolean(record.sealedProviderWebhookSecret),
  providerFromEmail: record.providerFromEmail ?? null,
  database:
    record.placement.kind === 'external' ? { external: true, host: record.placement.host } : { external: false },
  storage:
    record.storage?.kind === 'external' ? { external: true, endpoint: record.storage.endpoint } : { external: false },
});

/** Each half of the condition has its own index. */
export const projectsOf = (developerId: ObjectId, only: readonly ObjectId[] | null): Document => {
  const named = only ? { _id: { $in: only } } : {};
  return {
    $or: [
      { ownerId: developerId, state: 'active', ...named },
      { 'members.developerId': developerId, state: 'active', ...named },
    ],
  };
};

/** Not in the list, and possibly large. */
const unseen = { keys: 0, signingKeys: 0, invitations: 0 } as const;

/** Newest first; `only` limits it to these ids. */
export const listProjects = async (
  developerId: string,
  request: PageRequest,
  only: readonly string[] | null = null,
) => {
  const filter = projectsOf(new ObjectId(developerId), only?.map((id) => new ObjectId(id)) ?? null);
  return findPage(projectRecords, filter, request, { sort: { _id: -1 }, projection: unseen }, async (record) => {
    const { plan = 'free' } = await findOwner(record.ownerId.toHexString());
    return { ...toProjectView(record, plan), role: roleIn(record, developerId) ?? 'viewer' };
  });
};
