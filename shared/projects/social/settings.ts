import { createPrivateKey } from 'node:crypto';
import * as v from 'valibot';
import { ShortCache } from '../../core/cache.ts';
import { AppError, validationFailed } from '../../core/errors.ts';
import { isPlainObject } from '../../core/json.ts';
import { atMost, exactObject, flag, textOrNull } from '../../core/schemas.ts';
import { guardedRequest, isGuardedUrl } from '../../outbound/http.ts';
import type { ProjectRecord } from '../project.ts';
import { seal } from '../sealed.ts';
import type { ProjectChanges } from '../settings.ts';
import {
  clientSecretId,
  isOpenIdName,
  maxOpenIdProviders,
  missingOf,
  type OpenIdName,
  providerLimits,
  type RegistrationFields,
  type RegistrationSecret,
  type RegistrationText,
  registrationWith,
  type SocialRegistration,
  withIssuer,
} from './provider-rules.ts';
import {
  forEachProvider,
  registrationFieldsOf,
  type SocialProviderName,
  socialProviderNames,
  socialProviders,
} from './providers.ts';

/** The discovery document is below this URL. */
const isIssuer = (text: string): boolean => isGuardedUrl(text) && !/[?#\s\\]/.test(text);

const endpoint = v.pipe(v.string(), v.maxLength(2000), v.check(isGuardedUrl));
const list = v.optional(v.array(v.string()));

const document = v.object({
  issuer: v.string(),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  jwks_uri: endpoint,
  userinfo_endpoint: v.optional(endpoint),
  token_endpoint_auth_methods_supported: list,
  authorization_response_iss_parameter_supported: v.optional(v.boolean()),
});

/** The discovery document (OpenID Connect Discovery 1.0, 3). */
type Discovered = v.InferOutput<typeof document>;

const cache = new ShortCache<Discovered>(600_000, 500);

const read = async (issuer: string): Promise<Discovered> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { status, text } = await guardedRequest(url, { headers: { accept: 'application/json' }, ...providerLimits });
  if (status !== 200) throw new Error(`The discovery document was returned with status ${status}`);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), document), text);
  if (!parsed.success) throw new Error('The discovery document lacks what OpenID Connect asks for, or leads elsewhere');
  if (parsed.output.issuer !== issuer) throw new Error('The discovery document names another issuer');
  return parsed.output;
};

/** Cached for 10 minutes. Rejects for a restricted address, a missing document or another issuer. */
export const discover = (issuer: string): Promise<Discovered> => cache.get(issuer, () => read(issuer));

const credential = v.nullable(
  v.pipe(textOrNull, v.regex(/^[\x21-\x7e]{1,500}$/, 'must have 1 to 500 visible ASCII characters and no spaces')),
);

const isSigningKey = (pem: string): boolean => {
  try {
    const { asymmetricKeyDetails } = createPrivateKey(pem);
    return asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
};

const privateKey = v.nullable(
  v.pipe(
    textOrNull,
    v.trim(),
    atMost(2000),
    v.check(isSigningKey, 'must be the private key from Apple: the complete text of the file AuthKey_….p8'),
  ),
);

export type SocialSettings = Partial<Record<RegistrationText | RegistrationSecret, string | null>> & {
  readonly enabled?: boolean | undefined;
};

const issuer = v.nullable(
  v.pipe(
    textOrNull,
    atMost(500),
    v.check(isIssuer, 'must be an https URL of a public host, without query, user name and password'),
  ),
);

const settingsOf = ({ texts, secret }: RegistrationFields): v.GenericSchema<unknown, SocialSettings> =>
  exactObject({
    enabled: v.optional(flag),
    ...Object.fromEntries(texts.map((text) => [text, v.optional(text === 'issuer' ? issuer : credential)])),
    [secret]: v.optional(secret === 'privateKey' ? privateKey : credential),
  });

const known = forEachProvider((name) => v.optional(settingsOf(socialProviders[name].registration)));

/** By provider name; `null` removes an `oidc:<name>`. */
export const socialSettings = v.pipe(
  v.custom<Record<string, unknown>>(isPlainObject, 'must be an Object'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const input = dataset.value;
    for (const key of Object.keys(input)) {
      if (Object.hasOwn(known, key) || isOpenIdName(key)) continue;
      const path = [{ type: 'object', origin: 'value', input, key, value: input[key] }] as const;
      addIssue({ message: 'is not a known field', path: [...path] });
    }
  }),
  v.objectWithRest(known, v.nullable(settingsOf(withIssuer))),
);

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

/** A new issuer would get the stored secret, which the editor cannot see. */
const movesSecret = ({ issuer, sealedClientSecret }: Partial<SocialRegistration>): boolean =>
  issuer !== undefined && sealedClientSecret === undefined;

const requireOwnSecret = ([name, changes]: Change, now: SocialRegistration): void => {
  if (!movesSecret(changes) || now.sealedClientSecret === null || now.issuer === changes.issuer) return;
  const field = `socialProviders.${name}.clientSecret`;
  throw validationFailed({ field, message: `${field} is required with another issuer` });
};

/** Counts other discovery providers. */
const others = (names: readonly string[], concerned: readonly string[]): number =>
  names.filter((name) => isOpenIdName(name) && !concerned.includes(name)).length;

const requireDiscoverable = async ([name, { issuer }]: Change): Promise<void> => {
  if (typeof issuer !== 'string') return;
  try {
    await discover(issuer);
  } catch (cause) {
    const field = `socialProviders.${name}.issuer`;
    const message = `${field} must be an OpenID Connect issuer: its /.well-known/openid-configuration is missing or not valid`;
    throw Object.assign(validationFailed({ field, message }), { cause });
  }
};

/**
 * Returns the paths to set and unset in the record. Seals client secrets and reads discovery documents. `check` throws
 * 400 `VALIDATION_FAILED` for an enabled provider without client id or secret, 403 `LIMIT_REACHED` for a sixth
 * discovery provider.
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
        `A project may have ${maxOpenIdProviders} OpenID Connect providers. Remove one first: set it to null.`,
      );
    },
  };
};
