import { createCollection } from '../../../shared/collections/create-collection.ts';
import { collectionHints } from '../../../shared/collections/schema/row-security.ts';
import { ownedProjectEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['create-collection'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { name, ...definition } = input.body;
  const collection = await createCollection(owned.project, name, definition);
  const hints = collectionHints(definition, collection);
  return respond(route, { success: true, data: collection, message: 'Collection created', hints });
});
