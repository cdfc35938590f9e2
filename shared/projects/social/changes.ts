import { AppError, validationFailed } from '../../core/errors.ts';
import type { ProjectRecord } from '../project-record.ts';
import { seal } from '../sealed.ts';
import type { ProjectChanges } from '../settings.ts';
import { registrationFieldsOf, type SocialProviderName, socialProviderNames } from '../social-providers.ts';
import { discover } from './openid-discovery.ts';
import { isOpenIdName, maxOpenIdProviders, type OpenIdName } from './openid-names.ts';
import { clientSecretId, missingOf, registrationWith, type SocialRegistration } from './registration.ts';
import type { SocialSettings } from './settings.ts';

type Name = SocialProviderName | OpenIdName;
type Change = readonly [name: Name, changes: Partial<SocialRegistration>];

const requireComplete = (name: Name, registration: SocialRegistration): void => {
  const missing = registration.enabled ? missingOf(registrationFieldsOf(name), registration) : undefined;
  if (missing === undefined) return;
  const field = `socialProviders.${name}.${missing}`;
  throw validationFailed({ field, message: `${field} is required to enable the provider` });
};

const changesOf = async (
  projectId: string,
  name: Name,
  given: SocialSettings,
): Promise<Partial<SocialRegistration>> => {
  const { texts, secret } = registrationFieldsOf(name);
  const { enabled, [secret]: plain } = given;
  return {
    ...(enabled !== undefined && { enabled }),
    ...Object.fromEntries(texts.flatMap((text) => (given[text] === undefined ? [] : [[text, given[text]]]))),
    ...(plain !== undefined && {
      sealedClientSecret: plain && (await seal(plain, clientSecretId(projectId, name))),
    }),
  };
};

/** Another issuer would be sent the secret that is kept for this one, which nobody can see who changes settings. */
const movesSecret = ({ issuer, sealedClientSecret }: Partial<SocialRegistration>): boolean =>
  issuer !== undefined && sealedClientSecret === undefined;

const requireOwnSecret = ([name, changes]: Change, now: SocialRegistration): void => {
  if (!movesSecret(changes) || now.sealedClientSecret === null || now.issuer === changes.issuer) return;
  const field = `socialProviders.${name}.clientSecret`;
  throw validationFailed({ field, message: `${field} is required with another issuer` });
};

/** How many of these names of providers are by discovery and none of those that this change is about. */
const others = (names: readonly string[], concerned: readonly string[]): number =>
  names.filter((name) => isOpenIdName(name) && !concerned.includes(name)).length;

const requireDiscoverable = async ([name, { issuer }]: Change): Promise<void> => {
  if (typeof issuer !== 'string') return;
  try {
    await discover(issuer);
  } catch (cause) {
    const field = `socialProviders.${name}.issuer`;
    const message = `${field} must be an issuer of OpenID Connect: nothing usable is at its /.well-known/openid-configuration`;
    throw Object.assign(validationFailed({ field, message }), { cause });
  }
};

/**
 * What the given settings set in the project's record and unset, by paths; client secrets are sealed, issuers are asked
 * who they are. `check` refuses what would leave a provider enabled without its client id or secret: 400
 * `VALIDATION_FAILED`; a sixth by discovery: 403 `LIMIT_REACHED`.
 */
export const socialChanges = async (projectId: string, given: ProjectChanges['socialProviders'] = {}) => {
  const byDiscovery = Object.keys(given).filter(isOpenIdName);
  const removed = byDiscovery.filter((name) => given[name] === null);
  const all: Change[] = [];
  for (const name of [...socialProviderNames, ...byDiscovery]) {
    all.push([name, await changesOf(projectId, name, given[name] ?? {})]);
  }
  const changed = all.filter(([, changes]) => Object.keys(changes).length > 0);
  await Promise.all(changed.map(requireDiscoverable));
  const added = byDiscovery.filter((name) => changed.some(([of]) => of === name));
  const concerned = [...added, ...removed];
  const paths = changed.flatMap(([name, changes]) =>
    Object.entries(changes).map(([key, value]) => [`socialProviders.${name}.${key}`, value] as const),
  );
  return {
    set: Object.fromEntries(paths),
    unset: Object.fromEntries(removed.map((name) => [`socialProviders.${name}`, '' as const])),
    check: (now: ProjectRecord['socialProviders'] = {}): void => {
      for (const [name, changes] of changed) {
        const current = registrationWith(name, now);
        requireOwnSecret([name, changes], current);
        requireComplete(name, { ...current, ...changes });
      }
      if (added.length === 0 || others(Object.keys(now), concerned) + added.length <= maxOpenIdProviders) return;
      throw new AppError(
        'LIMIT_REACHED',
        `A project may have ${maxOpenIdProviders} providers by OpenID Connect. Remove one first, by null.`,
      );
    },
  };
};
