import { sessionSeconds } from '../auth/session-keys.ts';
import { type CookieScope, cookie, readCookie } from './cookies.ts';
import type { Event } from './middleware/adds.ts';

const name = 'dashboard_refresh';
const scope = { path: '/api/auth', sameSite: 'Strict' } satisfies Partial<CookieScope>;

/** The cookie that brings a developer's refresh token back to the dashboard's own auth routes, and nowhere else. */
export const dashboardCookie = (event: Event, refreshToken: string): string =>
  cookie(event, name, refreshToken, { ...scope, maxAge: sessionSeconds });

/** Removes the cookie from the browser. */
export const noDashboardCookie = (event: Event): string => cookie(event, name, '', { ...scope, maxAge: 0 });

/** The refresh token that the cookie carries; one that another site makes the browser send is as if absent. */
export const dashboardRefreshToken = (event: Event): string | undefined =>
  event.headers['sec-fetch-site'] === 'cross-site' ? undefined : readCookie(event, name) || undefined;
