import type { ProjectRecord } from './project-record.ts';
import type { ProjectChanges } from './settings.ts';
import type { Seal } from './social-changes.ts';

/** What a project's own key at the mail provider is sealed to: the project's record and the key's place in it. */
export const providerKeyId = (projectId: string): string => `${projectId}/mail-provider`;

/** What to set in the project's record for the key that is given: sealed, or `null` to go back to the shared one. */
export const providerKeyChange = async (
  projectId: string,
  given: ProjectChanges['providerApiKey'],
  seal: Seal,
): Promise<Pick<ProjectRecord, 'sealedProviderApiKey'>> =>
  given === undefined ? {} : { sealedProviderApiKey: given && (await seal(given, providerKeyId(projectId))) };

/** What the secret of a project's own webhook at the mail provider is sealed to. */
export const webhookSecretId = (projectId: string): string => `${projectId}/mail-webhook`;

/** What to set in the project's record for the secret that is given: sealed, or `null` to take no events any more. */
export const webhookSecretChange = async (
  projectId: string,
  given: ProjectChanges['providerWebhookSecret'],
  seal: Seal,
): Promise<Pick<ProjectRecord, 'sealedProviderWebhookSecret'>> =>
  given === undefined ? {} : { sealedProviderWebhookSecret: given && (await seal(given, webhookSecretId(projectId))) };
