import { createHash } from 'node:crypto';
import { stateSeconds } from '../accounts/social/state.ts';
import { type CookieScope, cookie, getCookie } from './cookies.ts';
import type { Event } from './middleware/middleware-types.ts';

/** Who signs in: the path to which the cookie comes back. */
const paths = { users: '/api/userAuth/social', developers: '/api/auth/github' } as const;

type Whose = keyof typeof paths;

/** `Lax`, because the provider sends the browser back from its own site. */
const scopeOf = (whose: Whose, maxAge: number): CookieScope => ({ path: paths[whose], sameSite: 'Lax', maxAge });

/** One cookie a sign-in, so that two tabs do not disturb each other. */
const nameFor = (state: string): string => `social_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;

/** The cookie that binds a sign-in to the browser which began it: the PKCE verifier of its state, for 10 minutes. */
export const socialCookie = (event: Event, state: string, verifier: string, whose: Whose = 'users'): string =>
  cookie(event, nameFor(state), verifier, scopeOf(whose, stateSeconds));

/** Removes the cookie from the browser. */
export const noSocialCookie = (event: Event, state: string, whose: Whose = 'users'): string =>
  cookie(event, nameFor(state), '', scopeOf(whose, 0));

/** The verifier that this browser keeps for a state. */
export const socialVerifier = (event: Event, state: string): string | undefined =>
  getCookie(event, nameFor(state)) || undefined;
