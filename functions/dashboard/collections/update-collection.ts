import { ruleHints } from '../../../shared/collections/rules/check-rules.ts';
import { collectionHints } from '../../../shared/collections/schema/row-security.ts';
import { updateCollection } from '../../../shared/collections/update-collection.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['update-collection'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { body } = input;
  const { collection, schemaBefore } = await updateCollection(owned.project, input.params.collectionName, body);
  const ofRules = collection.rls.rules || collection.effects ? await ruleHints(owned.project, collection.name) : [];
  // Changing only the owner field can drop the default of an existing field.
  const given = body.rls === undefined ? body : { ...body, schema: body.schema ?? schemaBefore };
  const all = [...(collectionHints(given, collection) ?? []), ...ofRules];
  const hints = all.length > 0 ? all : undefined;
  return respond(route, { success: true, data: collection, message: 'Collection updated', hints });
});
