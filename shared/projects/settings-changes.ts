import type { ProjectRecord } from './project-record.ts';
import { seal } from './sealed.ts';
import type { ProjectChanges } from './settings.ts';

/** What a project's own key at the mail provider is sealed to: the project's record and the key's place in it. */
export const providerKeyId = (projectId: string): string => `${projectId}/mail-provider`;

/** What the secret of a project's own webhook at the mail provider is sealed to. */
export const webhookSecretId = (projectId: string): string => `${projectId}/mail-webhook`;

/** What to set in the record, sealed; `null` goes back to the shared key, and takes no events any more. */
export const providerChanges = async (
  projectId: string,
  { providerApiKey: key, providerWebhookSecret: secret }: ProjectChanges,
): Promise<Pick<ProjectRecord, 'sealedProviderApiKey' | 'sealedProviderWebhookSecret'>> => ({
  ...(key !== undefined && { sealedProviderApiKey: key && (await seal(key, providerKeyId(projectId))) }),
  ...(secret !== undefined && {
    sealedProviderWebhookSecret: secret && (await seal(secret, webhookSecretId(projectId))),
  }),
});
