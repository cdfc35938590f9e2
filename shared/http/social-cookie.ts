import { createHash } from 'node:crypto';
import { stateSeconds } from '../auth/social/state.ts';
import { type CookieScope, cookie, readCookie } from './cookies.ts';
import type { Event } from './middleware/adds.ts';

/** `Lax`, because the provider sends the browser back from its own site. */
const scope = { path: '/api/userAuth/social', sameSite: 'Lax' } satisfies Partial<CookieScope>;

/** One cookie a sign-in, so that two tabs do not disturb each other. */
const nameFor = (state: string): string => `social_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;

/** The cookie that binds a sign-in to the browser which began it: the PKCE verifier of its state, for 10 minutes. */
export const socialCookie = (event: Event, state: string, verifier: string): string =>
  cookie(event, nameFor(state), verifier, { ...scope, maxAge: stateSeconds });

/** Removes the cookie from the browser. */
export const noSocialCookie = (event: Event, state: string): string =>
  cookie(event, nameFor(state), '', { ...scope, maxAge: 0 });

/** The verifier that this browser keeps for a state. */
export const socialVerifier = (event: Event, state: string): string | undefined =>
  readCookie(event, nameFor(state)) || undefined;
