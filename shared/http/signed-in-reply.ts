import type { SignIn } from '../accounts/sign-in.ts';
import { userAnswer } from '../accounts/stores/users.ts';
import type { UserRecord } from '../accounts/users/user-record.ts';
import type { Keyed } from './middleware/api-key.ts';
import type { Event } from './middleware/middleware-types.ts';
import type { WithUsers } from './middleware/user-token.ts';
import { bodyToken, cookieHints, refreshCookie } from './refresh-cookie.ts';
import type { Reply } from './reply.ts';

/** What somebody gets who has signed in: the body of the contract, and the cookie that goes with it. */
export const signedIn = (
  event: Event,
  { project, users }: Pick<Keyed & WithUsers, 'project' | 'users'>,
  signIn: SignIn<UserRecord>,
  message: string,
) => {
  const { refreshToken } = signIn.session;
  return [
    {
      success: true as const,
      message,
      ...userAnswer(users, signIn),
      refreshToken: bodyToken(event, refreshToken),
      hints: cookieHints(event, project, refreshToken),
    },
    { cookies: refreshCookie.set(event, refreshToken, project) },
  ] as const;
};

/** The same answer for an account that has just been made. */
export const created = (reply: Reply): Reply => ({ ...reply, statusCode: 201 });
