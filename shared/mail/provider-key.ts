import { sharedProviderKey } from '../clients/resend.ts';
import type { Project } from '../projects/project.ts';
import { open } from '../projects/sealed.ts';
import { providerKeyId } from '../projects/settings-changes.ts';

type KeyHolder = Pick<Project, 'id' | 'sealedProviderApiKey'>;

/** The project's own key at the mail provider; `null` where it has none. */
export const ownProviderKey = async ({ id, sealedProviderApiKey }: KeyHolder): Promise<string | null> =>
  sealedProviderApiKey && open(sealedProviderApiKey, providerKeyId(id));

/** The key with which a project calls the mail provider: its own, or else the one that all share. */
export const providerFor = async (project: KeyHolder) => {
  const own = await ownProviderKey(project);
  return own ? { apiKey: own, byok: true } : { apiKey: await sharedProviderKey(), byok: false };
};
