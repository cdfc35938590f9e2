import * as v from 'valibot';
import { strictBody, success } from '../../../shared/http/schemas.ts';

const text = v.string('must be a String');

export const CredentialsBody = strictBody({ email: text, password: text });

/** A developer as he is shown to himself. */
const Developer = v.object({
  _id: v.string(),
  email: v.string(),
  plan: v.picklist(['free', 'pro']),
  emailVerified: v.boolean(),
  createdAt: v.date(),
});

export const DeveloperAnswer = success(Developer);

/** The refresh token goes into a cookie, never into the body. */
export const SignInAnswer = success(v.object({ accessToken: v.string(), expiresIn: v.string(), developer: Developer }));

export const LogOutAnswer = v.object({ success: v.literal(true), message: v.string() });
