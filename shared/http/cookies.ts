import { hash } from 'node:crypto';
import { type DeveloperRecord, toDeveloper } from '../accounts/developers/developers.ts';
import { sessionSeconds } from '../accounts/sessions.ts';
import type { SignIn } from '../accounts/sign-in.ts';
import { stateSeconds } from '../accounts/social/start-sign-in.ts';
import { ownView, type UserRecord } from '../accounts/users/users.ts';
import { dashboardSettings } from '../core/config.ts';
import { cutText } from '../core/text.ts';
import { allowsOrigin, projectSites } from '../projects/allowed-origins.ts';
import type { Project } from '../projects/project.ts';
import type { Keyed } from './middleware/api-key.ts';
import type { Event } from './stack.ts';
import type { WithUsers } from './user-endpoint.ts';

/** Cookies are always `HttpOnly`, and `Secure` except over plain HTTP on loopback. */
interface CookieScope {
  readonly path: string;
  readonly sameSite: 'Strict' | 'Lax' | 'None';
  /** In seconds; 0 removes the cookie. */
  readonly maxAge: number;
}

const loopback = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

/** Only the local gateway serves plain HTTP. */
const isPlainLoopback = ({ headers, requestContext }: Event): boolean =>
  headers['x-forwarded-proto'] !== 'https' && loopback.test(requestContext.domainName);

export const cookie = (event: Event, name: string, value: string, { path, sameSite, maxAge }: CookieScope): string =>
  [
    `${name}=${value}`,
    'HttpOnly',
    `Path=${path}`,
    `Max-Age=${maxAge}`,
    `SameSite=${sameSite}`,
    ...(isPlainLoopback(event) ? [] : ['Secure']),
  ].join('; ');

export const getCookie = ({ cookies = [] }: Event, name: string): string | undefined =>
  cookies.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);

/** `counts` is false if a page of another site may have made the browser send the request. */
interface KeptCookie<Of> extends Pick<CookieScope, 'path'> {
  readonly name: (of: Of) => string;
  readonly sameSite: (event: Event) => CookieScope['sameSite'];
  readonly seconds: number;
  readonly counts: (event: Event, of: Of) => boolean;
}

/** Sets, removes and reads a cookie. If it does not count, it is neither set nor read. */
const keptCookie = <Of>({ name, path, sameSite, seconds, counts }: KeptCookie<Of>) => {
  const put = (event: Event, of: Of, value: string, maxAge: number): string[] =>
    counts(event, of) ? [cookie(event, name(of), value, { path, sameSite: sameSite(event), maxAge })] : [];
  return {
    set: (event: Event, value: string, of: Of) => put(event, of, value, seconds),
    remove: (event: Event, of: Of) => put(event, of, '', 0),
    get: (event: Event, of: Of) => (counts(event, of) ? getCookie(event, name(of)) || undefined : undefined),
  };
};

interface SentToken {
  readonly token: string | undefined;
  /** True if it came in `x-refresh-token`; the body then returns the next one. */
  readonly inHeader: boolean;
}

/**
 * False if a page that is not on the project's list sent the request. Otherwise any website could refresh a visitor's
 * session, or replace it with the session of another account.
 */
const countsCookies = ({ headers }: Event, project: Project): boolean =>
  headers.origin === undefined
    ? headers['sec-fetch-site'] !== 'cross-site'
    : allowsOrigin(projectSites(project), headers.origin);

/** Other sites' pages call with credentials, so cookies for them need `SameSite=None` over HTTPS. */
const sameSiteOfCalls = (event: Event): 'Lax' | 'None' => (isPlainLoopback(event) ? 'Lax' : 'None');

export const refreshCookie = keptCookie<Project>({
  name: ({ id }) => `refresh_${id}`,
  path: '/api/userAuth',
  sameSite: sameSiteOfCalls,
  seconds: sessionSeconds,
  counts: countsCookies,
});

export const sentRefreshToken = (event: Event, project: Project): SentToken => {
  const header = event.headers['x-refresh-token'];
  if (header) return { token: header, inHeader: true };
  return { token: refreshCookie.get(event, project), inHeader: false };
};

/** Returns the refresh token for the body if the client asked for that or keeps its token itself. */
export const bodyToken = ({ headers }: Event, refreshToken: string, inHeader = false): string | undefined =>
  inHeader || headers['x-refresh-token-mode']?.toLowerCase() === 'header' ? refreshToken : undefined;

const maxShownLength = 100;

/**
 * Explains to a page why it got no refresh cookie. `undefined` without `Origin`, and if the body contains the token.
 */
const cookieHints = (event: Event, project: Project, refreshToken: string): readonly string[] | undefined => {
  const { origin } = event.headers;
  const hasToken = countsCookies(event, project) || bodyToken(event, refreshToken) !== undefined;
  if (origin === undefined || hasToken) return undefined;
  return [
    `No refresh cookie was set: ${cutText(origin, maxShownLength)} is neither the origin of the project's siteUrl nor an exact entry of its allowedDomains. Set one of them (PATCH /api/projects/:projectId of the dashboard API), or send x-refresh-token-mode: header and keep the refresh token yourself.`,
  ];
};

/**
 * False if a page of another site sent the request. It could otherwise sign a visitor out, or in to another account.
 */
const isFromDashboard = ({ headers }: Event): boolean => {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site === 'cross-site') return false;
  return origin === undefined || site === 'same-origin' || dashboardSettings().DASHBOARD_ORIGINS.includes(origin);
};

export const dashboardCookie = keptCookie<void>({
  name: () => 'dashboard_refresh',
  path: '/api/auth',
  sameSite: () => 'Strict',
  seconds: sessionSeconds,
  counts: isFromDashboard,
});

/**
 * Binds a sign-in with a provider to the browser that started it. Each sign-in has its own cookie, so that two tabs do
 * not interfere. `Lax`, because the provider redirects back from its own site.
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
 * For a sign-in that a page started with a call. Only the project's own pages may: any other page could read the state
 * and send the visitor back with its own code.
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

/** Returns the body and cookies of a user's sign-in. `token` is the deprecated alias of `accessToken`. */
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

/** Returns the body and cookies of a developer's sign-in. The refresh token is in the cookie only. */
export const developerSignedIn = (event: Event, { account, session }: SignIn<DeveloperRecord>, message: string) => {
  const { accessToken, expiresIn, refreshToken } = session;
  return [
    { success: true as const, data: { accessToken, expiresIn, developer: toDeveloper(account) }, message },
    { cookies: dashboardCookie.set(event, refreshToken) },
  ] as const;
};
