import type { Send } from './connection.ts';
import { page } from './page.ts';
import type { UserOf } from './schema.ts';
import { type Session, type Tokens, tokenMode } from './session.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** By the token of a mail's link, or by its code. */
export type EmailProof = { readonly token: string } | { readonly email: string; readonly otp: string };

/** What the page below `<siteUrl>/auth/callback` is given. */
export interface SocialCode {
  readonly token: string;
  readonly rtCode: string;
}

export interface SignedIn<User> extends Tokens {
  readonly userId: string;
  readonly user: User;
}

/** Where a user is signed in. */
export interface UserSession {
  readonly _id: string;
  readonly current: boolean;
  readonly [field: string]: unknown;
}

const prefix = '/api/userAuth';

/** What the address of a callback page says. */
const codeIn = ({ search, hash } = page.location ?? { search: '', hash: '' }): SocialCode => ({
  token: new URLSearchParams(hash.slice(1)).get('token') ?? '',
  rtCode: new URLSearchParams(search).get('rtCode') ?? '',
});

/** Accounts of the app's users, with the publishable key; who signs in stays so until `logout`. */
export const authOf = <S>(url: string, key: string, send: Send, session: Session) => {
  type User = UserOf<S>;
  const post = async (path: string, body: object): Promise<void> => {
    await send('POST', `${prefix}/${path}`, { body });
  };
  const enter = async (path: string, body: object): Promise<SignedIn<User>> => {
    const answer = await send<SignedIn<User>>('POST', `${prefix}/${path}`, { body, headers: tokenMode });
    await session.save(answer);
    return answer;
  };
  return {
    /** Opens an account and signs it in; other fields are those of the `users` schema. */
    signup: <B extends Credentials>(body: B) => enter('signup', body),
    login: (body: Credentials) => enter('login', body),
    /** Ends the session, here at once. */
    logout: async (): Promise<void> => {
      const kept = await session.load();
      await session.end();
      if (kept) await send('POST', `${prefix}/logout`, { headers: { 'x-refresh-token': kept.refreshToken } });
    },
    /** An access token that is good for now, for a server of your own; `undefined` where nobody is signed in. */
    token: () => session.token(),
    me: async (): Promise<User> => (await session.send<{ readonly data: User }>('GET', `${prefix}/me`)).data,
    updateProfile: async (body: { readonly [field: string]: unknown }): Promise<User> =>
      (await session.send<{ readonly user: User }>('PUT', `${prefix}/update-profile`, { body })).user,
    /** Ends all other sessions. */
    changePassword: async (body: {
      readonly currentPassword?: string;
      readonly newPassword: string;
    }): Promise<void> => {
      await session.send('PUT', `${prefix}/change-password`, { body });
    },
    requestPasswordReset: (body: { readonly email: string }) => post('request-password-reset', body),
    resetPassword: (body: EmailProof & { readonly newPassword: string }) => post('reset-password', body),
    verifyEmail: (body: EmailProof) => post('verify-email', body),
    resendVerificationOtp: (body: { readonly email: string }) => post('resend-verification-otp', body),
    sessions: async (): Promise<UserSession[]> =>
      (await session.send<{ readonly data: UserSession[] }>('GET', `${prefix}/sessions`)).data,
    deleteSession: async (id: string): Promise<void> => {
      await session.send('DELETE', `${prefix}/sessions/${encodeURIComponent(id)}`);
    },
    /** What anybody may see of a user. */
    publicProfile: async (username: string): Promise<Partial<User>> =>
      (await send<{ readonly data: User }>('GET', `${prefix}/public/${encodeURIComponent(username)}`)).data,
    /** The address that the browser goes to, to sign in: `location.href = app.auth.social('github')`. */
    social: (provider: string): string =>
      `${url}${prefix}/social/${encodeURIComponent(provider)}/start?x-api-key=${encodeURIComponent(key)}`,
    /** Signs in with what the callback page was given, which is taken from its address. */
    exchange: async (body: SocialCode = codeIn()): Promise<void> => {
      const { data } = await send<{ readonly data: { readonly refreshToken: string } }>(
        'POST',
        `${prefix}/social/exchange`,
        { body },
      );
      await session.save({ accessToken: body.token, refreshToken: data.refreshToken });
    },
  };
};
