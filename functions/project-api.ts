import { activeCollections } from '../shared/collections/collection-record.ts';
import { serviceSettings } from '../shared/core/config.ts';
import { describeCollections } from '../shared/http/openapi/collections.ts';
import { projectEndpoint } from '../shared/http/project-endpoint.ts';
import { respondTagged } from '../shared/http/reply.ts';
import { publicDocument } from './public-api.ts';
import { serviceRoutes } from './service/routes.ts';

const route = { ...serviceRoutes['get-openapi'], access: 'anyKey' } as const;

/** Adds the collections of the key's project to the description. */
export const describeProject = projectEndpoint(route).handler(async (event, { project, keyKind }) => {
  const collections = await activeCollections(project);
  const servers = [{ url: serviceSettings().PUBLIC_URL }];
  return respondTagged(
    route,
    event,
    JSON.stringify({ ...describeCollections(publicDocument(), collections, keyKind), servers }),
  );
});
