import { sessionSeconds } from '../accounts/sessions.ts';
import { dashboardSettings } from '../core/config.ts';
import { type CookieScope, cookie, getCookie } from './cookies.ts';
import type { Event } from './middleware/middleware-types.ts';

const name = 'dashboard_refresh';
const scope = { path: '/api/auth', sameSite: 'Strict' } satisfies Partial<CookieScope>;

/**
 * Whether cookies count: not where a page of another site makes the browser send the request (contract 1, "Cookies and
 * other sites"). Such a page could otherwise sign a visitor in to an account of its own, or out.
 */
const countsCookies = ({ headers }: Event): boolean => {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site === 'cross-site') return false;
  return origin === undefined || site === 'same-origin' || dashboardSettings().DASHBOARD_ORIGINS.includes(origin);
};

/**
 * The cookie that brings a developer's refresh token back to the dashboard's own auth routes; none where cookies do not
 * count.
 */
export const dashboardCookies = (event: Event, refreshToken: string): string[] =>
  countsCookies(event) ? [cookie(event, name, refreshToken, { ...scope, maxAge: sessionSeconds })] : [];

/** Removes the cookie from the browser, where cookies count. */
export const noDashboardCookies = (event: Event): string[] =>
  countsCookies(event) ? [cookie(event, name, '', { ...scope, maxAge: 0 })] : [];

/** The refresh token that the cookie carries; one that another site makes the browser send is as if absent. */
export const dashboardRefreshToken = (event: Event): string | undefined =>
  countsCookies(event) ? getCookie(event, name) || undefined : undefined;
