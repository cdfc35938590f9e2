import * as v from 'valibot';
import { accountFields, factorFields, hasFactor, Session, withoutFactor } from '../../account-fields.ts';
import { authenticatedFields, Passkey, registeredFields } from '../../passkey-schemas.ts';
import { strictBody, success } from '../../schemas.ts';
import { pageOf } from '../schemas.ts';

const {
  email,
  recipient,
  newPassword,
  password,
  token,
  otp,
  code,
  factorCode,
  ticket,
  passkeyName,
  exchangeToken,
  rtCode,
} = accountFields;

/** Sign-up also checks the strength of the password. */
export const CredentialsBody = strictBody({ email, password: newPassword });
export const EmailBody = strictBody({ email: recipient });

const proof = { token: v.optional(token), email: v.optional(email), otp: v.optional(otp) };
export const EmailProofBody = strictBody(proof);
export const PasswordResetBody = strictBody({ ...proof, newPassword });
export const PasswordChangeBody = strictBody({
  currentPassword: v.optional(password),
  newPassword,
  endTokens: v.optional(
    v.pipe(
      v.boolean('must be a Boolean'),
      v.metadata({ description: 'true ends every personal access token too; otherwise they stay valid.' }),
    ),
  ),
});
export const CodeBody = strictBody({ token: v.optional(token), email: v.optional(email), code: v.optional(code) });
export const FactorCodeBody = strictBody({ code: factorCode });
export const FactorBody = v.pipe(strictBody(factorFields), v.check(hasFactor, withoutFactor));
export const TicketBody = v.pipe(strictBody({ ticket, ...factorFields }), v.check(hasFactor, withoutFactor));
export const RegisteredBody = strictBody(registeredFields);
export const AuthenticatedBody = strictBody(authenticatedFields);
export const PasskeyNameBody = strictBody({ name: passkeyName });
export const DeletionBody = strictBody({ password: v.optional(password) });
export const ExchangeBody = strictBody({ token: exchangeToken, rtCode });

const parameter = v.optional(v.pipe(v.string(), v.maxLength(4096, 'must have at most 4096 characters')));

/** Sent by GitHub. */
export const CallbackQuery = v.object({ state: parameter, code: parameter, error: parameter });

const Developer = v.object({
  _id: v.string(),
  email: v.string(),
  plan: v.picklist(['free', 'pro']),
  emailVerified: v.boolean(),
  secondFactor: v.boolean(),
  createdAt: v.date(),
});

export const DeveloperAnswer = success(Developer);

/** The refresh token is in a cookie only. */
export const SignInAnswer = success(v.object({ accessToken: v.string(), expiresIn: v.string(), developer: Developer }));

export const SessionPage = pageOf(Session);
export const PasskeyPage = pageOf(Passkey);
