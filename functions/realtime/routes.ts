import { defineRoutes } from '../../shared/http/route.ts';
import { TicketAnswer, TicketBody } from './schemas.ts';

/** Live updates: what opens the connection on which changes are heard. */
export const realtimeRoutes = defineRoutes({
  'create-ticket': {
    method: 'POST',
    path: '/api/realtime/tickets',
    access: 'anyKey',
    summary: 'Get a ticket for the live updates of collections; 200 without one where there are none',
    body: TicketBody,
    response: { status: 201, body: TicketAnswer },
  },
});
