import { createPrivateKey } from 'node:crypto';
import * as v from 'valibot';
import { isPlainObject } from '../../core/json-value.ts';
import { atMost, exactObject, flag, textOrNull } from '../setting-schemas.ts';
import { forEachProvider, socialProviders } from '../social-providers.ts';
import { isIssuer } from './openid-discovery.ts';
import { isOpenIdName } from './openid-names.ts';
import { type RegistrationFields, type RegistrationSecret, type RegistrationText, withIssuer } from './registration.ts';

/** What a provider has given out: visible ASCII without spaces. */
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
    v.check(isSigningKey, 'must be the private key that Apple gave out, the whole text of its file AuthKey_….p8'),
  ),
);

/** What a developer sets of one provider; of the texts and the secret those that it has. */
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

/** By the names of providers, and `oidc:<name>`, of which `null` removes one. */
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
