import type { Filter } from 'mongodb';
import { validationFailed } from '../core/errors.ts';
import type { ProjectRecord } from './project-record.ts';
import { seal } from './sealed.ts';
import type { ProjectChanges } from './settings.ts';
import { clientSecretId, missingOf, registrationWith, type SocialRegistration } from './social/registration.ts';
import type { SocialSettings } from './social/settings.ts';
import { type SocialProviderName, socialProviderNames, socialProviders } from './social-providers.ts';

const requireComplete = (name: SocialProviderName, registration: SocialRegistration): void => {
  const missing = registration.enabled ? missingOf(socialProviders[name].registration, registration) : undefined;
  if (missing === undefined) return;
  const field = `socialProviders.${name}.${missing}`;
  throw validationFailed({ field, message: `${field} is required to enable the provider` });
};

const changesOf = async (
  projectId: string,
  name: SocialProviderName,
  given: SocialSettings,
): Promise<Partial<SocialRegistration>> => {
  const { texts, secret } = socialProviders[name].registration;
  const { enabled, [secret]: plain } = given;
  return {
    ...(enabled !== undefined && { enabled }),
    ...Object.fromEntries(texts.flatMap((text) => (given[text] === undefined ? [] : [[text, given[text]]]))),
    ...(plain !== undefined && {
      sealedClientSecret: plain && (await seal(plain, clientSecretId(projectId, name))),
    }),
  };
};

/** What the record must be like for a provider to be complete or disabled after the change. */
const conditionsOf = (name: SocialProviderName, changes: Partial<SocialRegistration>): Filter<ProjectRecord>[] => {
  const path = `socialProviders.${name}`;
  const needed = [...socialProviders[name].registration.texts, 'sealedClientSecret'] as const;
  if (changes.enabled) {
    return needed.flatMap((key) => (changes[key] === undefined ? [{ [`${path}.${key}`]: { $type: 'string' } }] : []));
  }
  const clears = needed.some((key) => changes[key] === null);
  return clears && changes.enabled === undefined ? [{ [`${path}.enabled`]: { $ne: true } }] : [];
};

export interface SocialChanges {
  /** What to set in the project's record: path → value; what is left out stays. */
  readonly set: Readonly<Record<string, unknown>>;
  /** What the record must match to be changed so. */
  readonly conditions: readonly Filter<ProjectRecord>[];
  /** Refuses what would leave a provider enabled without its client id or secret: 400 `VALIDATION_FAILED`. */
  readonly check: (record: Pick<ProjectRecord, 'socialProviders'>) => void;
}

/** What the given settings change; client secrets are sealed. */
export const socialChanges = async (
  projectId: string,
  given: ProjectChanges['socialProviders'] = {},
): Promise<SocialChanges> => {
  const all: [SocialProviderName, Partial<SocialRegistration>][] = [];
  for (const name of socialProviderNames) all.push([name, await changesOf(projectId, name, given[name] ?? {})]);
  const changed = all.filter(([, changes]) => Object.keys(changes).length > 0);
  const paths = changed.flatMap(([name, changes]) =>
    Object.entries(changes).map(([key, value]) => [`socialProviders.${name}.${key}`, value] as const),
  );
  return {
    set: Object.fromEntries(paths),
    conditions: changed.flatMap(([name, changes]) => conditionsOf(name, changes)),
    check: ({ socialProviders: now }) => {
      for (const [name, changes] of changed) requireComplete(name, { ...registrationWith(name, now), ...changes });
    },
  };
};

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
