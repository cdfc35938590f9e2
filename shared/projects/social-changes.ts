import { AppError } from '../errors.ts';
import type { ProjectRecord } from './project-record.ts';
import type { ProjectChanges } from './settings.ts';
import {
  clientSecretId,
  type SocialProvider,
  type SocialProviderName,
  socialProvider,
  socialProviderNames,
} from './social-providers.ts';

/** Encrypts a secret for the record of this id. */
export type Seal = (plain: string, recordId: string) => Promise<string>;

type Given = NonNullable<NonNullable<ProjectChanges['socialProviders']>[SocialProviderName]>;

const requireComplete = (name: SocialProviderName, { clientId, sealedClientSecret }: SocialProvider): void => {
  const missing = clientId === null ? 'clientId' : sealedClientSecret === null ? 'clientSecret' : undefined;
  if (missing === undefined) return;
  const message = `socialProviders.${name}.${missing} is required to enable the provider`;
  throw new AppError('VALIDATION_FAILED', `Validation failed: ${message}`, {
    errors: [{ field: `socialProviders.${name}.${missing}`, message }],
  });
};

const changesOf = async (
  projectId: string,
  name: SocialProviderName,
  { enabled, clientId, clientSecret }: Given,
  seal: Seal,
): Promise<Partial<SocialProvider>> => ({
  ...(enabled === undefined ? {} : { enabled }),
  ...(clientId === undefined ? {} : { clientId }),
  ...(clientSecret === undefined
    ? {}
    : { sealedClientSecret: clientSecret && (await seal(clientSecret, clientSecretId(projectId, name))) }),
});

/**
 * What to set in the project's record, path → value, for the providers that are given; what is left out stays. To enable a
 * provider that would lack its client id or secret → 400 `VALIDATION_FAILED`.
 */
export const socialChanges = async (
  record: ProjectRecord,
  given: ProjectChanges['socialProviders'] = {},
  seal: Seal,
): Promise<Readonly<Record<string, unknown>>> => {
  const paths: [string, unknown][] = [];
  for (const name of socialProviderNames) {
    const changes = await changesOf(record._id.toHexString(), name, given[name] ?? {}, seal);
    if (changes.enabled) requireComplete(name, { ...socialProvider(record.socialProviders, name), ...changes });
    for (const [key, value] of Object.entries(changes)) paths.push([`socialProviders.${name}.${key}`, value]);
  }
  return Object.fromEntries(paths);
};
