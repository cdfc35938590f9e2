import { createCollection } from '../../../shared/collections/create-collection.ts';
import { ruleHints } from '../../../shared/collections/rules/check-rules.ts';
import { collectionHints } from '../../../shared/collections/schema/row-security.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['create-collection'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { name, ...definition } = input.body;
  const collection = await createCollection(owned.project, name, definition);
  const ofRules = collection.rls.rules || collection.effects ? await ruleHints(owned.project, collection.name) : [];
  const all = [...(collectionHints(definition, collection) ?? []), ...ofRules];
  const hints = all.length > 0 ? all : undefined;
  return respond(route, { success: true, data: collection, message: 'Collection created', hints });
});
