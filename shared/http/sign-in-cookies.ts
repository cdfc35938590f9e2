import { hash } from 'node:crypto';
import { sessionSeconds } from '../accounts/sessions.ts';
import { stateSeconds } from '../accounts/social/state.ts';
import { dashboardSettings } from '../core/config.ts';
import type { Project } from '../projects/project.ts';
import { keptCookie } from './cookies.ts';
import type { Event } from './middleware/middleware-types.ts';
import { countsCookies, sameSiteOfCalls } from './refresh-cookie.ts';

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
