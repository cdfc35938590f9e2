import { viewOf } from '../core/view.ts';
import type { PlanName, ProjectRecord } from './project.ts';
import { userUploads } from './settings.ts';
import { signInMethods } from './sign-in-methods.ts';
import { isOpenIdName, type OpenIdName, type RegistrationText, registrationWith } from './social/provider-rules.ts';
import { forEachProvider, registrationFieldsOf, type SocialProviderName } from './social/providers.ts';

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

/** Only the fields that the provider has. */
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
  plan,
  signIn: signInMethods(record.signIn),
  uploads: userUploads(record.uploads),
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
