import type { PlanName } from './project.ts';
import type { ProjectRecord } from './project-record.ts';
import { forEachProvider, type SocialProviderName } from './social-providers.ts';
import { registrationWith } from './social-registrations.ts';

interface SocialView {
  readonly enabled: boolean;
  readonly clientId: string | null;
  readonly hasClientSecret: boolean;
}

/**
 * A project as the dashboard returns it (contract 6, "Records"): no hash, no sealed secret, ids as 24 hex characters.
 */
export interface ProjectView
  extends Pick<ProjectRecord, 'name' | 'siteUrl' | 'publishableKey' | 'secretKeyHint' | 'allowedDomains'>,
    Pick<ProjectRecord, 'allowPublicSignup' | 'authEnabled' | 'createdAt' | 'updatedAt'> {
  readonly _id: string;
  readonly plan: PlanName;
  readonly socialProviders: Readonly<Record<SocialProviderName, SocialView>>;
  readonly hasProviderApiKey: boolean;
  readonly hasProviderWebhookSecret: boolean;
  readonly providerFromEmail: string | null;
  readonly database: { readonly external: boolean; readonly host?: string };
  readonly storage: { readonly external: boolean; readonly endpoint?: string };
}

const toSocialView = ({ socialProviders }: ProjectRecord, name: SocialProviderName): SocialView => {
  const { enabled, clientId, sealedClientSecret } = registrationWith(name, socialProviders);
  return { enabled, clientId, hasClientSecret: sealedClientSecret !== null };
};

/** A record as the dashboard shows it; the plan is that of its owner. */
export const toProjectView = (record: ProjectRecord, plan: PlanName): ProjectView => ({
  _id: record._id.toHexString(),
  name: record.name,
  siteUrl: record.siteUrl,
  plan,
  publishableKey: record.publishableKey,
  secretKeyHint: record.secretKeyHint,
  allowedDomains: record.allowedDomains,
  allowPublicSignup: record.allowPublicSignup,
  authEnabled: record.authEnabled,
  socialProviders: forEachProvider((name) => toSocialView(record, name)),
  hasProviderApiKey: Boolean(record.sealedProviderApiKey),
  hasProviderWebhookSecret: Boolean(record.sealedProviderWebhookSecret),
  providerFromEmail: record.providerFromEmail ?? null,
  database:
    record.placement.kind === 'external' ? { external: true, host: record.placement.host } : { external: false },
  storage:
    record.storage?.kind === 'external' ? { external: true, endpoint: record.storage.endpoint } : { external: false },
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
});
