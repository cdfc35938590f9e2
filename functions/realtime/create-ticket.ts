import { createTicket, openRooms } from '../../shared/documents/ticket.ts';
import { namedCollections } from '../../shared/http/middleware/collection.ts';
import { readerOf } from '../../shared/http/middleware/user-token.ts';
import { projectEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { realtimeRoutes } from './routes.ts';

const route = realtimeRoutes['create-ticket'];

export const handler = projectEndpoint(route).handler(async ({ headers }, { project, keyKind, input }) => {
  const { collections: asked = [], rooms: wanted = [] } = input.body;
  const parts = asked.map((each) => (typeof each === 'string' ? { collection: each } : each));
  const names = parts.map(({ collection }) => collection);
  const roomsOf = wanted.map(({ of }) => of);
  const found = await namedCollections(project, [...names, ...roomsOf.map(({ collection }) => collection)]);
  const callerOf = await readerOf({ project, keyKind }, headers);
  const ofRooms = found.slice(names.length);
  const rooms = ofRooms.length > 0 ? await openRooms(project, roomsOf, ofRooms, callerOf) : undefined;
  const wholes = found.slice(0, names.length);
  const subscriptions = wholes.map((collection, at) => ({ ...parts[at], collection }));
  const data = await createTicket(project, subscriptions, callerOf, rooms);
  if (data.ticket === null) {
    const none = { ...route, response: { ...route.response, status: 200 } };
    return respond(none, { success: true, data, message: 'Live updates are off. Poll the changes feed.' });
  }
  return respond(route, { success: true, data, message: 'Ticket issued' });
});
