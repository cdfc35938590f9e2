import { BasaltError } from './basalt-error.ts';
import { below, dataBy, type Parts, type RequestOptions, type Send } from './connection.ts';
import { page } from './page.ts';
import type { UserOf } from './schema.ts';
import { type Session, type Tokens, tokenMode } from './session.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** By the token of a mail's link, or by its code. */
export type EmailProof = { readonly token: string } | { readonly email: string; readonly otp: string };

/** By the token of a mail's link, or by its code. */
export type CodeProof = { readonly token: string } | { readonly email: string; readonly code: string };

/** By the authenticator app, or by one of the recovery codes. */
export type FactorProof = { readonly code: string } | { readonly recoveryCode: string };

/** What the page below `<siteUrl>/auth/callback` is given. */
export interface SocialCode {
  readonly token: string;
  readonly rtCode: string;
}

export interface SignedIn<User> extends Tokens {
  readonly userId: string;
  readonly user: User;
}

/** With what a user may sign in. */
export interface Security {
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** Whether there is a password. */
  readonly password: boolean;
  readonly providers: readonly { readonly provider: string; readonly name: string }[];
  readonly passkeys: readonly Passkey[];
  /** How many recovery codes the authenticator app has left; `null` without one. */
  readonly secondFactor: { readonly recoveryCodes: number } | null;
}

/** A session of the user's own, and where it was used last. */
export interface UserSession {
  readonly _id: string;
  /** The session that asks. */
  readonly current: boolean;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly userAgent: string;
  readonly ip: string;
}

/** A credential of the browser that signs a user in. */
export interface Passkey {
  readonly _id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  /** There may be a copy of it: it signs in no longer. */
  readonly locked: boolean;
}

/** What the browser's `PublicKeyCredential` parses. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly [field: string]: unknown;
}

/** What `toJSON` of the browser's credential writes. */
export interface PasskeyResponse {
  readonly response: unknown;
}

interface PasskeyChoice extends RequestOptions {
  readonly mediation?: 'conditional' | undefined;
}

/** What browsers have on pages with HTTPS and on localhost. */
const passkeysHere = ({ PublicKeyCredential: parser, navigator } = page) => {
  const credentials = navigator?.credentials;
  if (parser && credentials) return { parser, credentials };
  throw new BasaltError({ code: 'PASSKEYS_UNAVAILABLE', message: 'Passkeys need HTTPS.' });
};

const json = (credential: unknown): unknown => (credential as { toJSON(): unknown }).toJSON();

const prefix = '/api/userAuth/';

/** What the address of a callback page says, nothing of a link; what failed, or wants a second factor, is thrown. */
const codeIn = ({ search, hash } = page.location ?? { search: '', hash: '' }): SocialCode | undefined => {
  const query = new URLSearchParams(search);
  const fragment = new URLSearchParams(hash.slice(1));
  const message = query.get('error');
  if (message !== null) throw new BasaltError({ code: 'SOCIAL_SIGN_IN_FAILED', message });
  const ticket = fragment.get('ticket');
  if (ticket !== null) {
    throw new BasaltError({ status: 401, code: 'SECOND_FACTOR_REQUIRED', message: 'Enter your code.', ticket });
  }
  if (query.has('linked')) return undefined;
  return { token: fragment.get('token') ?? '', rtCode: query.get('rtCode') ?? '' };
};

/** A route that takes a body, or none; and one that takes an id before it. */
type Route<Body, Answer> = (body: Body, options?: Parts) => Promise<Answer>;
type Plain<Answer> = (options?: Parts) => Promise<Answer>;
type ById<Answer> = (id: string, options?: Parts) => Promise<Answer>;

/** Accounts of the app's users, with the publishable key; who signs in stays so until `logout`. */
export const authOf = <S>(url: string, key: string, send: Send, session: Session) => {
  type User = UserOf<S>;
  type Fields = { readonly [field: string]: unknown };

  /** A route that signs in; whoever comes back from it stays so. */
  const enter =
    <Body>(path: string): Route<Body, SignedIn<User>> =>
    async (body, options) => {
      const answer = await send<SignedIn<User>>('POST', prefix + path, { body, headers: tokenMode, ...options });
      await session.save(answer);
      return answer;
    };
  const data = <Answer>(method: string, path: string, parts?: Parts, as = session.send): Promise<Answer> =>
    dataBy(as)(method, prefix + path, parts);
  /** Routes that answer `data`, or nothing: asked without a body, sent one, or of one thing. */
  const ask =
    <Answer>(method: string, path: string, as = session.send): Plain<Answer> =>
    (options) =>
      data(method, path, options, as);
  const act =
    <Body, Answer = void>(method: string, path: string, as = session.send): Route<Body, Answer> =>
    (body, options) =>
      data(method, path, { body, ...options }, as);
  const byId =
    <Answer>(method: string, path: string, as = session.send): ById<Answer> =>
    (id, options) =>
      data(method, below(path, id), options, as);

  /** A route that answers recovery codes. */
  const codes = <Body>(path: string): Route<Body, string[]> => {
    const post = act<Body, { readonly recoveryCodes: string[] }>('POST', `second-factor/${path}`);
    return async (body, options) => (await post(body, options)).recoveryCodes;
  };
  /** A route that answers where the browser is to go. */
  const begun =
    (step: string) =>
    async (provider: string, options?: RequestOptions): Promise<string> => {
      const start = ask<{ readonly url: string }>('POST', `${below('social', provider)}/${step}`);
      return (await start({ credentials: 'include', ...options })).url;
    };
  const exchange = act<SocialCode, { readonly refreshToken: string }>('POST', 'social/exchange', send);
  const registration = ask<PasskeyOptions>('POST', 'passkeys/registration');
  const registered = act<PasskeyResponse & { readonly name?: string | undefined }, Passkey>(
    'POST',
    'passkeys/registration/verify',
  );
  const authentication = ask<PasskeyOptions>('POST', 'passkeys/authentication', send);
  const authenticated = enter<PasskeyResponse>('passkeys/authentication/verify');

  return {
    /** Opens an account and signs it in; other fields are those of the `users` schema. */
    signup: <B extends Credentials>(body: B, options?: RequestOptions) => enter<B>('signup')(body, options),
    login: enter<Credentials>('login'),
    /** Ends the session, here at once. */
    logout: async (options?: RequestOptions): Promise<void> => {
      const kept = await session.load();
      await session.end();
      const headers = { 'x-refresh-token': kept?.refreshToken };
      if (kept) await data('POST', 'logout', { headers, ...options }, send);
    },
    /** An access token that is good for now, for a server of your own; `undefined` where nobody is signed in. */
    token: () => session.token(),
    me: ask<User>('GET', 'me'),
    updateProfile: async (body: Fields, options?: RequestOptions): Promise<User> =>
      (await session.send<{ readonly user: User }>('PUT', `${prefix}update-profile`, { body, ...options })).user,
    /** Ends all other sessions. */
    changePassword: act<{ readonly currentPassword?: string; readonly newPassword: string }>('PUT', 'change-password'),
    /** Has a mail sent to the address that the account is to have; who has no password leaves it out. */
    requestEmailChange: act<{ readonly email: string; readonly password?: string }>('POST', 'request-email-change'),
    /** Changes the address by that mail, and ends all other sessions. */
    changeEmail: act<EmailProof>('POST', 'change-email'),
    /** Deletes the account, and ends the session here; who has no password leaves it out. */
    deleteAccount: async (body: { readonly password?: string } = {}, options?: RequestOptions): Promise<void> => {
      await data('DELETE', 'account', { body, ...options });
      await session.end();
    },
    requestPasswordReset: act<{ readonly email: string }>('POST', 'request-password-reset', send),
    resetPassword: act<EmailProof & { readonly newPassword: string }>('POST', 'reset-password', send),
    /** As who is signed in, who keeps password and sessions; from elsewhere it ends them. */
    verifyEmail: act<EmailProof>('POST', 'verify-email'),
    resendVerificationOtp: act<{ readonly email: string }>('POST', 'resend-verification-otp', send),
    /** Has a mail with a code and a link sent, either of which signs in. */
    code: act<{ readonly email: string }>('POST', 'code', send),
    codeVerify: enter<CodeProof>('code/verify'),
    /** Opens an account without address and password, which only this session is in. */
    anonymous: (options?: RequestOptions) => enter<undefined>('anonymous')(undefined, options),
    /** Gives it an address, and a password, or else a code by mail that `codeVerify` takes. */
    anonymousUpgrade: act<{ readonly email: string; readonly password?: string }>('POST', 'anonymous/upgrade'),
    /** Begins to set up an authenticator app: `uri` is for a QR code. */
    secondFactorTotp: ask<{ readonly secret: string; readonly uri: string }>('POST', 'second-factor/totp'),
    /** Has it count from now on; the recovery codes are shown this once. */
    secondFactorTotpConfirm: codes<{ readonly code: string }>('totp/confirm'),
    /** Other recovery codes in the place of those that there are, shown this once; all other sessions end. */
    secondFactorRecoveryCodes: codes<FactorProof>('recovery-codes'),
    deleteSecondFactorTotp: act<FactorProof>('DELETE', 'second-factor/totp'),
    /** Ends a sign-in that was refused with `SECOND_FACTOR_REQUIRED`, by the `ticket` of that error. */
    secondFactorVerify: enter<FactorProof & { readonly ticket: string }>('second-factor/verify'),
    /** With what the user may sign in. */
    security: ask<Security>('GET', 'security'),
    /** Takes a provider from the account, where another way to sign in is left. */
    deleteSocial: byId<void>('DELETE', 'social'),
    passkeys: ask<Passkey[]>('GET', 'passkeys'),
    updatePasskey: (id: string, body: { readonly name: string }, options?: RequestOptions): Promise<Passkey> =>
      byId<Passkey>('PATCH', 'passkeys')(id, { body, ...options }),
    deletePasskey: byId<{ readonly _id: string }>('DELETE', 'passkeys'),
    /** Has the browser make a passkey for who is signed in. */
    addPasskey: async (name?: string, options?: RequestOptions): Promise<Passkey> => {
      const { parser, credentials } = passkeysHere();
      const publicKey = parser.parseCreationOptionsFromJSON(await registration(options));
      return registered({ response: json(await credentials.create({ publicKey, ...options })), name }, options);
    },
    /** Signs in by a passkey that the person chooses; `mediation: 'conditional'` offers them in a form's field. */
    loginByPasskey: async (options: PasskeyChoice = {}): Promise<SignedIn<User>> => {
      const { parser, credentials } = passkeysHere();
      const publicKey = parser.parseRequestOptionsFromJSON(await authentication(options));
      return authenticated({ response: json(await credentials.get({ publicKey, ...options })) }, options);
    },
    /** The steps of these two, for a page that does the browser's part itself. */
    passkeysRegistration: registration,
    passkeysRegistrationVerify: registered,
    passkeysAuthentication: authentication,
    passkeysAuthenticationVerify: authenticated,
    sessions: ask<UserSession[]>('GET', 'sessions'),
    deleteSession: byId<{ readonly _id: string }>('DELETE', 'sessions'),
    /** What anybody may see of a user. */
    publicProfile: byId<Partial<User>>('GET', 'public', send),
    /** The address that the browser goes to, to sign in: `location.href = app.auth.social('github')`. */
    social: (provider: string): string =>
      `${url}${prefix}${below('social', provider)}/start?x-api-key=${encodeURIComponent(key)}`,
    /** The same of whoever is signed in anonymously, so that the account stays theirs. */
    socialStart: begun('start'),
    /** The address that the browser goes to, to have the provider sign in to the account of who is signed in, too. */
    socialLink: begun('link'),
    /**
     * Signs in with what the callback page was given, which is taken from its address; after `socialLink` there is
     * none.
     */
    exchange: async (body: SocialCode | undefined = codeIn(), options?: RequestOptions): Promise<void> => {
      if (!body) return;
      const { refreshToken } = await exchange(body, options);
      await session.save({ accessToken: body.token, refreshToken });
    },
  };
};
