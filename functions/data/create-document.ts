import { upsertDocument } from '../../shared/documents/store/upsert.ts';
import { createDocument } from '../../shared/documents/store/write-documents.ts';
import { dataWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond, respondUpdated } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['create-document'];

export const handler = dataWriteEndpoint(route).handler(async (_event, { access, input }) => {
  const { onConflict } = input.query;
  if (onConflict === undefined) {
    const { document, revision } = await createDocument(access, input.body);
    return respond(route, document, { revision });
  }
  const { document, revision, isNew } = await upsertDocument(access, input.body, onConflict);
  return isNew ? respond(route, document, { revision }) : respondUpdated(route, document, { revision });
});
