import { activeCollections } from '../../shared/collections/collection-record.ts';
import { typesText } from '../../shared/documents/types/types-text.ts';
import { projectEndpoint } from '../../shared/http/project-endpoint.ts';
import { respondTagged } from '../../shared/http/reply.ts';
import { serviceRoutes } from './routes.ts';

const route = serviceRoutes['get-types'];

export const handler = projectEndpoint(route).handler(async (event, { project, keyKind }) =>
  respondTagged(route, event, typesText(await activeCollections(project), keyKind)),
);
