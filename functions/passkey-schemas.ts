import * as v from 'valibot';
import { isPlainObject } from '../shared/core/json.ts';
import { accountFields } from './account-fields.ts';
import { JsonObject, success } from './schemas.ts';

const { passkeyName } = accountFields;
const description = 'What toJSON of the PublicKeyCredential writes.';
const response = v.pipe(
  v.custom<Record<string, unknown>>(isPlainObject, 'must be an Object'),
  v.metadata({ description }),
);
export const registeredFields = { response, name: v.optional(passkeyName) } as const;
export const authenticatedFields = { response } as const;
export const RegisteredBody = v.pipe(JsonObject, v.object(registeredFields));
export const AuthenticatedBody = v.pipe(JsonObject, v.object(authenticatedFields));
export const PasskeyNameBody = v.pipe(JsonObject, v.object({ name: passkeyName }));

export const Passkey = v.object({
  _id: v.string(),
  name: v.string(),
  createdAt: v.date(),
  lastUsedAt: v.nullable(v.date()),
  locked: v.boolean(),
});
export const PasskeyAnswer = success(Passkey);
export const PasskeysAnswer = success(v.array(Passkey));

const ofPublicKey = v.literal('public-key');

/** Input of `PublicKeyCredential.parseCreationOptionsFromJSON`. */
export const RegistrationAnswer = success(
  v.object({
    rp: v.object({ id: v.string(), name: v.string() }),
    user: v.object({ id: v.string(), name: v.string(), displayName: v.string() }),
    challenge: v.string(),
    pubKeyCredParams: v.array(v.object({ type: ofPublicKey, alg: v.number() })),
    timeout: v.number(),
    excludeCredentials: v.array(v.object({ type: ofPublicKey, id: v.string() })),
    authenticatorSelection: v.object({
      residentKey: v.literal('required'),
      requireResidentKey: v.literal(true),
      userVerification: v.literal('required'),
    }),
    attestation: v.literal('none'),
  }),
);

/** Input of `PublicKeyCredential.parseRequestOptionsFromJSON`. */
export const AuthenticationAnswer = success(
  v.object({
    rpId: v.string(),
    challenge: v.string(),
    timeout: v.number(),
    userVerification: v.literal('required'),
  }),
);

const id = 'pQ3vX0aJt7m2bWcYhR5sKd8uEfGzLiNo';

/** Example bodies of a registration and of a sign-in. */
export const passkeyExamples = {
  registered: {
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0', attestationObject: 'o2NmbXRkbm9uZQ' },
    },
    name: 'Phone',
  },
  authenticated: {
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: {
        clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
        authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
        signature: 'MEUCIQDTGVxhrKL0jYvVqO0y',
        userHandle: 'Z0PwwqkbXQASqzTN',
      },
    },
  },
} as const;
