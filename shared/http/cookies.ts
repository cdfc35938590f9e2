import { hash } from 'node:crypto';
import { type DeveloperRecord, toDeveloper } from '../accounts/developers/developers.ts';
import { sessionSeconds } from '../accounts/sessions.ts';
import type { SignIn } from '../accounts/sign-in.ts';
import { stateSeconds } from '../accounts/social/start-sign-in.ts';
import { ownView, type UserRecord } from '../accounts/users/users.ts';
import { dashboardSettings } from '../core/config.ts';
import { cutText } from '../core/text.ts';
import type { Project } from '../projects/project.ts';
import { allowsOrigin, projectSites } from '../projects/settings.ts';
import type { Keyed } from './middleware/api-key.ts';
import type { WithUsers } from './middleware/user-token.ts';
import type { Event } from './stack.ts';

/** A cookie's scope; it is always `HttpOnly`, and `Secure` but over plain http on loopback. */
interface CookieScope {
  readonly path: string;
  readonly sameSite: 'Strict' | 'Lax' | 'None';
  /** Seconds; 0 removes the cookie. */
  readonly maxAge: number;
}

const loopback = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

/** True where the request came over plain http on this machine, which only the local gateway serves. */
const isPlainLoopback = ({ headers, requestContext }: Event): boolean =>
  headers['x-forwarded-proto'] !== 'https' && loopback.test(requestContext.domainName);

/** The value of a `Set-Cookie` header. */
export const cookie = (event: Event, name: string, value: string, { path, sameSite, maxAge }: CookieScope): string =>
  [
    `${name}=${value}`,
    'HttpOnly',
    `Path=${path}`,
    `Max-Age=${maxAge}`,
    `SameSite=${sameSite}`,
    ...(isPlainLoopback(event) ? [] : ['Secure']),
  ].join('; ');

/** The value of a cookie that the request carries. */
export const getCookie = ({ cookies = [] }: Event, name: string): string | undefined =>
  cookies.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);

/** A cookie of ours; `counts` is false for requests that a page of a foreign site may have made the browser send. */
interface KeptCookie<Of> extends Pick<CookieScope, 'path'> {
  readonly name: (of: Of) => string;
  readonly sameSite: (event: Event) => CookieScope['sameSite'];
  readonly seconds: number;
  readonly counts: (event: Event, of: Of) => boolean;
}

/** Sets, removes and reads a cookie where it counts; elsewhere it is as if there were none. */
const keptCookie = <Of>({ name, path, sameSite, seconds, counts }: KeptCookie<Of>) => {
  const put = (event: Event, of: Of, value: string, maxAge: number): string[] =>
    counts(event, of) ? [cookie(event, name(of), value, { path, sameSite: sameSite(event), maxAge })] : [];
  return {
    set: (event: Event, value: string, of: Of) => put(event, of, value, seconds),
    remove: (event: Event, of: Of) => put(event, of, '', 0),
    get: (event: Event, of: Of) => (counts(event, of) ? getCookie(event, name(of)) || undefined : undefined),
  };
};

/** A refresh token as it came with a request. */
interface SentToken {
  readonly token: string | undefined;
  /** It came in `x-refresh-token`, so its successor belongs in the body too. */
  readonly inHeader: boolean;
}

/**
 * Whether cookies count: not where a page of a site that the project does not name makes the browser send them
 * (contract 1, "Cookies and other sites"). Else any website could refresh a visitor's session, or put one of its own in
 * its place.
 */
const countsCookies = ({ headers }: Event, project: Project): boolean =>
  headers.origin === undefined
    ? headers['sec-fetch-site'] !== 'cross-site'
    : allowsOrigin(projectSites(project), headers.origin);

/** Pages of other sites call with credentials too, so over https a cookie that they are to get has to be `None`. */
const sameSiteOfCalls = (event: Event): 'Lax' | 'None' => (isPlainLoopback(event) ? 'Lax' : 'None');

/** Brings an end user's refresh token back to the user routes (contract 3, "Refresh token"). */
export const refreshCookie = keptCookie<Project>({
  name: ({ id }) => `refresh_${id}`,
  path: '/api/userAuth',
  sameSite: sameSiteOfCalls,
  seconds: sessionSeconds,
  counts: countsCookies,
});

/** The refresh token of a request: the header's, else the cookie's where cookies count. */
export const sentRefreshToken = (event: Event, project: Project): SentToken => {
  const header = event.headers['x-refresh-token'];
  if (header) return { token: header, inHeader: true };
  return { token: refreshCookie.get(event, project), inHeader: false };
};

/** The refresh token as the body shows it: to clients that ask for it there, or that keep theirs themselves. */
export const bodyToken = ({ headers }: Event, refreshToken: string, inHeader = false): string | undefined =>
  inHeader || headers['x-refresh-token-mode']?.toLowerCase() === 'header' ? refreshToken : undefined;

const maxShownLength = 100;

/** Says to a page that gets no refresh cookie why; `undefined` without `Origin`, and with the token in the body. */
const cookieHints = (event: Event, project: Project, refreshToken: string): readonly string[] | undefined => {
  const { origin } = event.headers;
  const hasToken = countsCookies(event, project) || bodyToken(event, refreshToken) !== undefined;
  if (origin === undefined || hasToken) return undefined;
  return [
    `No refresh cookie was set: ${cutText(origin, maxShownLength)} is neither the origin of the project's siteUrl nor an exact entry of its allowedDomains. Set one of them (PATCH /api/projects/:projectId of the dashboard API), or send x-refresh-token-mode: header and keep the refresh token yourself.`,
  ];
};

/**
 * Whether cookies count: not where a page of another site makes the browser send the request (contract 1, "Cookies and
 * other sites"). Such a page could otherwise sign a visitor in to an account of its own, or out.
 */
const isFromDashboard = ({ headers }: Event): boolean => {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site === 'cross-site') return false;
  return origin === undefined || site === 'same-origin' || dashboardSettings().DASHBOARD_ORIGINS.includes(origin);
};

/** Brings a developer's refresh token back to the dashboard's own auth routes. */
export const dashboardCookie = keptCookie<void>({
  name: () => 'dashboard_refresh',
  path: '/api/auth',
  sameSite: () => 'Strict',
  seconds: sessionSeconds,
  counts: isFromDashboard,
});

/**
 * Binds a social sign-in to the browser that began it, by the PKCE verifier of its state: one cookie a sign-in, so that
 * two tabs do not disturb each other, and `Lax`, because the provider sends the browser back from its own site.
 */
const nameOf = (state: string): string => `social_${hash('sha256', state, 'hex').slice(0, 16)}`;

const socialCookie = (path: string) =>
  keptCookie<string>({
    name: nameOf,
    path,
    sameSite: () => 'Lax',
    seconds: stateSeconds,
    counts: () => true,
  });

const usersPath = '/api/userAuth/social';

/**
 * The same of a sign-in that a page begins by a call. It counts for the project's own pages alone: any other could read
 * the state, and have a visitor come back with a code of its own.
 */
export const calledSocialCookie = keptCookie<{ readonly state: string; readonly project: Project }>({
  name: ({ state }) => nameOf(state),
  path: usersPath,
  sameSite: sameSiteOfCalls,
  seconds: stateSeconds,
  counts: (event, { project }) => countsCookies(event, project),
});

export const socialCookies = {
  users: socialCookie(usersPath),
  developers: socialCookie('/api/auth/github'),
};

/**
 * What a user gets who has signed in: the body of the contract, in which `token` is the deprecated alias of
 * `accessToken`, and the cookie that goes with it.
 */
export const signedIn = async (
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
      user: await ownView(project, users, account),
      refreshToken: bodyToken(event, refreshToken),
      hints: cookieHints(event, project, refreshToken),
    },
    { cookies: refreshCookie.set(event, refreshToken, project) },
  ] as const;
};

/** What a developer gets who has signed in; the refresh token goes into the cookie only. */
export const developerSignedIn = (event: Event, { account, session }: SignIn<DeveloperRecord>, message: string) => {
  const { accessToken, expiresIn, refreshToken } = session;
  return [
    { success: true as const, data: { accessToken, expiresIn, developer: toDeveloper(account) }, message },
    { cookies: dashboardCookie.set(event, refreshToken) },
  ] as const;
};
