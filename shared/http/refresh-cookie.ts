import { sessionSeconds } from '../accounts/sessions.ts';
import { cutText } from '../core/bounded-text.ts';
import { allowsOrigin, ownSites } from '../projects/allowed-origin.ts';
import type { Project } from '../projects/project.ts';
import { isPlainLoopback, keptCookie } from './cookies.ts';
import type { Event } from './middleware/middleware-types.ts';

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
export const countsCookies = ({ headers }: Event, project: Project): boolean =>
  headers.origin === undefined
    ? headers['sec-fetch-site'] !== 'cross-site'
    : allowsOrigin(ownSites(project), headers.origin);

/** Pages of other sites call with credentials too, so over https a cookie that they are to get has to be `None`. */
export const sameSiteOfCalls = (event: Event): 'Lax' | 'None' => (isPlainLoopback(event) ? 'Lax' : 'None');

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
export const cookieHints = (event: Event, project: Project, refreshToken: string): readonly string[] | undefined => {
  const { origin } = event.headers;
  const hasToken = countsCookies(event, project) || bodyToken(event, refreshToken) !== undefined;
  if (origin === undefined || hasToken) return undefined;
  return [
    `No refresh cookie was set: ${cutText(origin, maxShownLength)} is neither the origin of the project's siteUrl nor an exact entry of its allowedDomains. Set one of them (PATCH /api/projects/:projectId of the dashboard API), or send x-refresh-token-mode: header and keep the refresh token yourself.`,
  ];
};
