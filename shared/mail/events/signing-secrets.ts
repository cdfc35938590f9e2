import { ObjectId } from 'mongodb';
import { settingText } from '../../clients/secrets.ts';
import { webhookSettings } from '../../core/config.ts';
import { forgetWhenSaved } from '../../core/saved-projects.ts';
import { absenceMs, ShortCache } from '../../core/short-cache.ts';
import { projectRecords } from '../../projects/project-record.ts';
import { open } from '../../projects/sealed.ts';
import { webhookSecretId } from '../../projects/settings-changes.ts';
import { parseSecrets } from './signature.ts';

/** A new secret is known that soon to functions that are running. */
const secretAgeMs = 60_000;

/** The secrets of the account that all projects share; none where the setting is missing or cannot be used. */
export const sharedSecrets = async (): Promise<readonly Buffer[]> => {
  const { MAIL_WEBHOOK_SECRET, MAIL_WEBHOOK_SECRET_ARN } = webhookSettings();
  return parseSecrets(await settingText(MAIL_WEBHOOK_SECRET, MAIL_WEBHOOK_SECRET_ARN, secretAgeMs));
};

/** Settings take effect within 5 s everywhere (contract 1), so nothing is kept longer. */
const cache = new ShortCache<readonly Buffer[]>(5000, 2000, {
  isMiss: (secrets) => secrets.length === 0,
  size: 500,
  ttlMs: absenceMs,
});

forgetWhenSaved((projectId) => cache.forget((key) => key === projectId));

const read = async (projectId: string): Promise<readonly Buffer[]> => {
  const record = await projectRecords.findOne(
    { _id: ObjectId.createFromHexString(projectId), state: 'active' },
    { projection: { sealedProviderWebhookSecret: 1 } },
  );
  const sealed = record?.sealedProviderWebhookSecret;
  return sealed ? parseSecrets(await open(sealed, webhookSecretId(projectId))) : [];
};

/** The secret of a project's own account; none where there is no such project, or it has given none. */
export const projectSecrets = async (projectId: string): Promise<readonly Buffer[]> =>
  /^[0-9a-f]{24}$/.test(projectId) ? cache.get(projectId, () => read(projectId)) : [];
