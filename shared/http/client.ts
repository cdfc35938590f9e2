import type { Client } from '../accounts/sessions.ts';
import type { Event } from './middleware/middleware-types.ts';

/** The client behind a request: the gateway's own source address (never a header's), and what it calls itself. */
export const clientOf = ({ requestContext: { http } }: Event): Client => ({
  ip: http.sourceIp,
  userAgent: http.userAgent ?? '',
});
