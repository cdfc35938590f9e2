import * as v from 'valibot';
import { checkEmail } from '../email.ts';

/** Somebody as a provider knows them. `id` never changes; `addresses` are canonical, the provider's main one first. */
export interface SocialProfile {
  readonly id: string;
  readonly name: string | undefined;
  readonly username: string | undefined;
  readonly addresses: readonly Address[];
}

/** An e-mail address of a profile, and whether the provider has verified it. */
export interface Address {
  readonly email: string;
  readonly verified: boolean;
}

/** More addresses than anybody has use for are not looked at. */
const maxAddresses = 10;

/** A text for people, or `undefined` where the provider has none that could be shown as it is. */
const label = v.pipe(
  v.unknown(),
  v.transform((value) => {
    const text = typeof value === 'string' ? value.trim() : '';
    return text !== '' && text.length <= 100 && text.isWellFormed() && !/\p{Cc}/u.test(text) ? text : undefined;
  }),
);

/** GitHub's stand-ins for hidden addresses: nobody reads mail there. */
const standIn = '@users.noreply.github.com';

const isUsable = (email: string): boolean => {
  try {
    return !checkEmail(email).endsWith(standIn);
  } catch {
    return false;
  }
};

const usable = (addresses: readonly Address[]): Address[] =>
  addresses
    .filter(({ email }) => isUsable(email))
    .slice(0, maxAddresses)
    .map(({ email, verified }) => ({ email: checkEmail(email), verified }));

/** What GitHub answers at `/user` and `/user/emails`, as a profile. */
export const githubProfile = v.pipe(
  v.object({
    user: v.object({
      id: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
      login: v.optional(label),
      name: v.optional(label),
    }),
    emails: v.array(v.object({ email: v.string(), primary: v.boolean(), verified: v.boolean() })),
  }),
  v.transform(
    ({ user, emails }): SocialProfile => ({
      id: String(user.id),
      name: user.name,
      username: user.login,
      addresses: usable(emails.toSorted((a, b) => Number(b.primary) - Number(a.primary))),
    }),
  ),
);

/** What Google answers as OpenID Connect user info, as a profile. */
export const googleProfile = v.pipe(
  v.object({
    user: v.object({
      sub: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/)),
      email: v.string(),
      email_verified: v.boolean(),
      name: v.optional(label),
    }),
  }),
  v.transform(
    ({ user }): SocialProfile => ({
      id: user.sub,
      name: user.name,
      username: undefined,
      addresses: usable([{ email: user.email, verified: user.email_verified }]),
    }),
  ),
);
