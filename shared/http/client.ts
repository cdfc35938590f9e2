import type { Client } from '../accounts/sessions.ts';
import type { Event } from './middleware/middleware-types.ts';
import { sourceAddress } from './source-address.ts';

/** The client behind a request: where it came from, and what it calls itself. */
export const clientOf = (event: Event): Client => ({
  ip: sourceAddress(event),
  userAgent: event.requestContext.http.userAgent ?? '',
});
