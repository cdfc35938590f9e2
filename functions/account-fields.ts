import * as v from 'valibot';
import { isAddress, maxAddressLength, unreachable } from '../shared/core/schemas.ts';
import { success } from './schemas.ts';

const text = v.string('must be a String');

/** Measured as sent, so that no route accepts more than the API description says. */
const email = v.pipe(text, v.maxLength(maxAddressLength, unreachable), v.metadata({ format: 'email' }));

/** Shared by users and developers. The domain validates the values; the metadata is for the API description. */
export const accountFields = {
  email,
  recipient: v.pipe(email, v.trim(), v.check(isAddress, unreachable)),
  newPassword: v.pipe(
    text,
    v.metadata({ description: '8 to 72 bytes of UTF-8 in NFC, without NUL.', format: 'password' }),
  ),
  password: v.pipe(text, v.metadata({ format: 'password' })),
  token: v.pipe(
    text,
    v.metadata({ description: 'The token in the link of the email. Instead of it, you can send email and the code.' }),
  ),
  otp: v.pipe(text, v.metadata({ description: 'The code of the email, XXXX-XXXX.' })),
  code: v.pipe(text, v.metadata({ description: 'The code of the email, XXXX-XXXX.' })),
  factorCode: v.pipe(text, v.metadata({ description: 'Six digits of the authenticator app.' })),
  recoveryCode: v.pipe(text, v.metadata({ description: 'One of the recovery codes, XXXX-XXXX.' })),
  ticket: v.pipe(text, v.metadata({ description: 'From the error SECOND_FACTOR_REQUIRED.' })),
  passkeyName: v.pipe(
    text,
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(64, 'must have at most 64 characters'),
  ),
  exchangeToken: v.pipe(text, v.metadata({ description: 'The access token from the fragment of the landing page.' })),
  rtCode: v.pipe(text, v.metadata({ description: 'From the query of the landing page; single-use.' })),
} as const;

/** One of the two proves the second factor. */
export const factorFields = {
  code: v.optional(accountFields.factorCode),
  recoveryCode: v.optional(accountFields.recoveryCode),
} as const;

interface SentFactor {
  readonly code?: string | undefined;
  readonly recoveryCode?: string | undefined;
}

export const hasFactor = <Sent extends SentFactor>({ code, recoveryCode }: Sent): boolean =>
  (code ?? recoveryCode) !== undefined;

export const withoutFactor = 'Send a code or a recoveryCode.';

/** Not shown again. */
export const TotpAnswer = success(v.object({ secret: v.string(), uri: v.string() }));
export const RecoveryCodesAnswer = success(v.object({ recoveryCodes: v.array(v.string()) }));

/** `current`: the session of this request. */
export const Session = v.object({
  _id: v.string(),
  createdAt: v.date(),
  lastUsedAt: v.date(),
  userAgent: v.string(),
  ip: v.string(),
  current: v.boolean(),
});

/** Explains to the developer what is missing, if anything is. */
export const hints = v.optional(v.array(v.string()));
