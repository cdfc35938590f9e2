import { type DeveloperRecord, toDeveloper } from '../accounts/developers/developer-record.ts';
import type { SignIn } from '../accounts/sign-in.ts';
import { type UserRecord, userView } from '../accounts/users/user-record.ts';
import type { Keyed } from './middleware/api-key.ts';
import type { Event } from './middleware/middleware-types.ts';
import type { WithUsers } from './middleware/user-token.ts';
import { bodyToken, cookieHints, refreshCookie } from './refresh-cookie.ts';
import type { Reply } from './reply.ts';
import { dashboardCookie } from './sign-in-cookies.ts';

/**
 * What a user gets who has signed in: the body of the contract, in which `token` is the deprecated alias of
 * `accessToken`, and the cookie that goes with it.
 */
export const signedIn = (
  event: Event,
  { project, users }: Pick<Keyed & WithUsers, 'project' | 'users'>,
  { account, session }: SignIn<UserRecord>,
  message: string,
) => {
  const { accessToken: token, refreshToken } = session;
  return [
    {
      success: true as const,
      message,
      ...session,
      token,
      user: userView(users, account),
      refreshToken: bodyToken(event, refreshToken),
      hints: cookieHints(event, project, refreshToken),
    },
    { cookies: refreshCookie.set(event, refreshToken, project) },
  ] as const;
};

/** The same answer for an account that has just been made. */
export const created = (reply: Reply): Reply => ({ ...reply, statusCode: 201 });

/** What a developer gets who has signed in; the refresh token goes into the cookie only. */
export const developerSignedIn = (event: Event, { account, session }: SignIn<DeveloperRecord>, message: string) => {
  const { accessToken, expiresIn, refreshToken } = session;
  return [
    { success: true as const, data: { accessToken, expiresIn, developer: toDeveloper(account) }, message },
    { cookies: dashboardCookie.set(event, refreshToken) },
  ] as const;
};
