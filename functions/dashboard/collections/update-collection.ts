import { ruleHints } from '../../../shared/collections/rules/check-rules.ts';
import { collectionHints } from '../../../shared/collections/schema/row-security.ts';
import { updateCollection } from '../../../shared/collections/update-collection.ts';
import { ownedProjectEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['update-collection'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const collection = await updateCollection(owned.project, input.params.collectionName, input.body);
  const ofRules = collection.rls.rules ? await ruleHints(owned.project, collection.name) : [];
  const all = [...(collectionHints(input.body, collection) ?? []), ...ofRules];
  const hints = all.length > 0 ? all : undefined;
  return respond(route, { success: true, data: collection, message: 'Collection updated', hints });
});
