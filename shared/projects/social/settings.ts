import { createPrivateKey } from 'node:crypto';
import * as v from 'valibot';
import { atMost, exactObject, flag, textOrNull } from '../setting-schemas.ts';
import { forEachProvider, socialProviders } from '../social-providers.ts';
import type { RegistrationFields, RegistrationSecret, RegistrationText } from './registration.ts';

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

const settingsOf = ({ texts, secret }: RegistrationFields): v.GenericSchema<unknown, SocialSettings> =>
  exactObject({
    enabled: v.optional(flag),
    ...Object.fromEntries(texts.map((text) => [text, v.optional(credential)])),
    [secret]: v.optional(secret === 'privateKey' ? privateKey : credential),
  });

export const socialSettings = exactObject(
  forEachProvider((name) => v.optional(settingsOf(socialProviders[name].registration))),
);
