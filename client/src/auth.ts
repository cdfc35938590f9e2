import { BasaltError } from './basalt-error.ts';
import { below, dataBy, type Parts, type RequestOptions, type Send } from './connection.ts';
import { page } from './page.ts';
import type { UserOf } from './schema.ts';
import { type Session, type Tokens, tokenMode } from './session.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The token of the link in an email, or the code in it. */
export type EmailProof = { readonly token: string } | { readonly email: string; readonly otp: string };

/** The token of the link in an email, or the code in it. */
export type CodeProof = { readonly token: string } | { readonly email: string; readonly code: string };

/** A code of the authenticator app, or a recovery code. */
export type FactorProof = { readonly code: string } | { readonly recoveryCode: string };

/** The parameters of the page `<siteUrl>/auth/callback`. */
export interface SocialCode {
  readonly token: string;
  readonly rtCode: string;
}

export interface SignedIn<User> extends Tokens {
  readonly userId: string;
  readonly user: User;
}

/** How a user can sign in. */
export interface Security {
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly password: boolean;
  readonly providers: readonly { readonly provider: string; readonly name: string }[];
  readonly passkeys: readonly Passkey[];
  /** The number of unused recovery codes of the authenticator app; `null` without an app. */
  readonly secondFactor: { readonly recoveryCodes: number } | null;
}

/** A session of the user, and where it was last used. */
export interface UserSession {
  readonly _id: string;
  /** True for the session that sent the request. */
  readonly current: boolean;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly userAgent: string;
  readonly ip: string;
}

export interface Passkey {
  readonly _id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  /** A copy of it may exist, so it can no longer sign in. */
  readonly locked: boolean;
}

/** The options for the browser's `PublicKeyCredential`. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly [field: string]: unknown;
}

/** The result of `toJSON()` of the browser's credential. */
export interface PasskeyResponse {
  readonly response: unknown;
}

interface PasskeyChoice extends RequestOptions {
  readonly mediation?: 'conditional' | undefined;
}

/** Browsers have it on HTTPS pages and on localhost. */
const passkeysHere = ({ PublicKeyCredential: parser, navigator } = page) => {
  const credentials = navigator?.credentials;
  if (parser && credentials) return { parser, credentials };
  throw new BasaltError({ code: 'PASSKEYS_UNAVAILABLE', message: 'Passkeys need HTTPS.' });
};

const json = (credential: unknown): unknown => (credential as { toJSON(): unknown }).toJSON();

/** The users to find: all conditions must hold. */
interface UsersWanted extends RequestOptions {
  /** Beginnings of words. */
  readonly search?: string;
  readonly where?: { readonly [field: string]: unknown };
  readonly ids?: readonly string[];
  readonly limit?: number;
  readonly cursor?: string | undefined;
}

/** Accepting creates the document, whose `userField` (or the owner field) receives the user who accepts. */
export interface NewInvitation {
  readonly email: string;
  readonly document: { readonly collection: string; readonly fields: { readonly [field: string]: unknown } };
  readonly userField?: string;
}

interface SentInvitation {
  readonly _id: string;
  readonly expiresAt: string;
}

/** A pending invitation. */
export type Invitation = SentInvitation & Omit<NewInvitation, 'userField'>;

const prefix = '/api/userAuth/';

/**
 * The code in the address of a callback page; `undefined` if it is the end of a link. Throws the sign-in's error, or
 * the request for a second factor.
 */
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

/** A route with or without a body; and one that takes an id first. */
type Route<Body, Answer> = (body: Body, options?: Parts) => Promise<Answer>;
type Plain<Answer> = (options?: Parts) => Promise<Answer>;
type ById<Answer> = (id: string, options?: Parts) => Promise<Answer>;

/** The accounts of the app's users, with the publishable key. A user stays signed in until `logout`. */
export const authOf = <S>(url: string, key: string, send: Send, session: Session) => {
  type User = UserOf<S>;
  type Fields = { readonly [field: string]: unknown };

  /** A route that signs a user in. */
  const enter =
    <Body>(path: string): Route<Body, SignedIn<User>> =>
    async (body, options) => {
      const answer = await send<SignedIn<User>>('POST', prefix + path, { body, headers: tokenMode, ...options });
      await session.save(answer);
      return answer;
    };
  const data = <Answer>(method: string, path: string, parts?: Parts, as = session.send): Promise<Answer> =>
    dataBy(as)(method, prefix + path, parts);
  /** Routes that return `data` or nothing: without a body, with one, or for an id. */
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

  /** A route that returns recovery codes. */
  const codes = <Body>(path: string): Route<Body, string[]> => {
    const post = act<Body, { readonly recoveryCodes: string[] }>('POST', `second-factor/${path}`);
    return async (body, options) => (await post(body, options)).recoveryCodes;
  };
  /** A route that returns the address for the browser. */
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
    /** Creates an account and signs it in. Other fields are those of the `users` schema. */
    signup: <B extends Credentials>(body: B, options?: RequestOptions) => enter<B>('signup')(body, options),
    login: enter<Credentials>('login'),
    /** Ends the session, here immediately. */
    logout: async (options?: RequestOptions): Promise<void> => {
      const kept = await session.load();
      await session.end();
      const headers = { 'x-refresh-token': kept?.refreshToken };
      if (kept) await data('POST', 'logout', { headers, ...options }, send);
    },
    /** A valid access token for your own server; `undefined` if nobody is signed in. */
    token: () => session.token(),
    me: ask<User>('GET', 'me'),
    updateProfile: async (body: Fields, options?: RequestOptions): Promise<User> =>
      (await session.send<{ readonly user: User }>('PUT', `${prefix}update-profile`, { body, ...options })).user,
    /** Also ends all other sessions. */
    changePassword: act<{ readonly currentPassword?: string; readonly newPassword: string }>('PUT', 'change-password'),
    /** Sends an email to the new address. Users without a password omit it. */
    requestEmailChange: act<{ readonly email: string; readonly password?: string }>('POST', 'request-email-change'),
    /** Changes the address with the token or code of that email, and ends all other sessions. */
    changeEmail: act<EmailProof>('POST', 'change-email'),
    /** Deletes the account and ends the session here. Users without a password omit it. */
    deleteAccount: async (body: { readonly password?: string } = {}, options?: RequestOptions): Promise<void> => {
      await data('DELETE', 'account', { body, ...options });
      await session.end();
    },
    requestPasswordReset: act<{ readonly email: string }>('POST', 'request-password-reset', send),
    resetPassword: act<EmailProof & { readonly newPassword: string }>('POST', 'reset-password', send),
    /** A signed-in user keeps the password and sessions. Without a sign-in, verification ends them. */
    verifyEmail: act<EmailProof>('POST', 'verify-email'),
    resendVerificationOtp: act<{ readonly email: string }>('POST', 'resend-verification-otp', send),
    /** Sends an email with a code and a link; either signs in. */
    code: act<{ readonly email: string }>('POST', 'code', send),
    codeVerify: enter<CodeProof>('code/verify'),
    /** Creates an account without email and password. Only this session can use it. */
    anonymous: (options?: RequestOptions) => enter<undefined>('anonymous')(undefined, options),
    /** Adds an email, and a password or a code by email that `codeVerify` takes. */
    anonymousUpgrade: act<{ readonly email: string; readonly password?: string }>('POST', 'anonymous/upgrade'),
    /** Starts the setup of an authenticator app. Show `uri` as a QR code. */
    secondFactorTotp: ask<{ readonly secret: string; readonly uri: string }>('POST', 'second-factor/totp'),
    /** Turns the app on. The recovery codes are returned only once. */
    secondFactorTotpConfirm: codes<{ readonly code: string }>('totp/confirm'),
    /** Replaces the recovery codes and ends all other sessions. They are returned only once. */
    secondFactorRecoveryCodes: codes<FactorProof>('recovery-codes'),
    deleteSecondFactorTotp: act<FactorProof>('DELETE', 'second-factor/totp'),
    /** Completes a sign-in that failed with `SECOND_FACTOR_REQUIRED`, with the `ticket` of that error. */
    secondFactorVerify: enter<FactorProof & { readonly ticket: string }>('second-factor/verify'),
    /** How the user can sign in. */
    security: ask<Security>('GET', 'security'),
    /** Removes a provider from the account, if another way to sign in remains. */
    deleteSocial: byId<void>('DELETE', 'social'),
    passkeys: ask<Passkey[]>('GET', 'passkeys'),
    updatePasskey: (id: string, body: { readonly name: string }, options?: RequestOptions): Promise<Passkey> =>
      byId<Passkey>('PATCH', 'passkeys')(id, { body, ...options }),
    deletePasskey: byId<{ readonly _id: string }>('DELETE', 'passkeys'),
    /** Creates a passkey for the signed-in user with the browser. */
    addPasskey: async (name?: string, options?: RequestOptions): Promise<Passkey> => {
      const { parser, credentials } = passkeysHere();
      const publicKey = parser.parseCreationOptionsFromJSON(await registration(options));
      return registered({ response: json(await credentials.create({ publicKey, ...options })), name }, options);
    },
    /** Signs in with a passkey that the user chooses. `mediation: 'conditional'` offers them in a form field. */
    loginByPasskey: async (options: PasskeyChoice = {}): Promise<SignedIn<User>> => {
      const { parser, credentials } = passkeysHere();
      const publicKey = parser.parseRequestOptionsFromJSON(await authentication(options));
      return authenticated({ response: json(await credentials.get({ publicKey, ...options })) }, options);
    },
    /** The steps of the two methods above, for pages that call the browser themselves. */
    passkeysRegistration: registration,
    passkeysRegistrationVerify: registered,
    passkeysAuthentication: authentication,
    passkeysAuthenticationVerify: authenticated,
    sessions: ask<UserSession[]>('GET', 'sessions'),
    deleteSession: byId<{ readonly _id: string }>('DELETE', 'sessions'),
    /** The public profile of a user. */
    publicProfile: byId<Partial<User>>('GET', 'public', send),
    /** Users in the directory of the app, at most 100; `nextCursor` leads to the next page. */
    users: ({
      signal,
      where,
      ...wanted
    }: UsersWanted = {}): Promise<{ readonly items: Partial<User>[]; readonly nextCursor?: string }> =>
      data('GET', 'users', { query: { ...wanted, where: where && JSON.stringify(where) }, signal }),
    /** Emails an invitation. The user who accepts it is named by `userField` of the new document. */
    sendInvitation: act<NewInvitation, SentInvitation>('POST', 'invitations'),
    /** The user's own pending invitations. */
    invitations: ask<Invitation[]>('GET', 'invitations'),
    deleteInvitation: byId<{ readonly _id: string }>('DELETE', 'invitations'),
    /** Accepts with the token of the link. Returns the new document's place. */
    acceptInvitation: act<{ readonly token: string }, { readonly collection: string; readonly _id: string }>(
      'POST',
      'invitations/accept',
    ),
    /** The address to sign in with a provider: `location.href = app.auth.social('github')`. */
    social: (provider: string): string =>
      `${url}${prefix}${below('social', provider)}/start?x-api-key=${encodeURIComponent(key)}`,
    /** The same for an anonymous user, who keeps the account. */
    socialStart: begun('start'),
    /** The address to link another provider to the signed-in user's account. */
    socialLink: begun('link'),
    /**
     * Signs in with the code of the callback page, by default the one in its address. After `socialLink` there is
     * none.
     */
    exchange: async (body: SocialCode | undefined = codeIn(), options?: RequestOptions): Promise<void> => {
      if (!body) return;
      const { refreshToken } = await exchange(body, options);
      await session.save({ accessToken: body.token, refreshToken });
    },
  };
};
