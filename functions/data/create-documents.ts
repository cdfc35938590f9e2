import { upsertDocuments } from '../../shared/documents/store/upsert.ts';
import { createDocuments } from '../../shared/documents/store/write-documents.ts';
import { dataWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond, respondUpdated } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['create-documents'];

export const handler = dataWriteEndpoint(route).handler(async (_event, { access, input }) => {
  const { onConflict } = input.query;
  if (onConflict === undefined) {
    const data = await createDocuments(access, input.body);
    return respond(route, { success: true, data, message: `${data.insertedCount} documents inserted` });
  }
  const data = await upsertDocuments(access, input.body, onConflict);
  const message = `${data.inserted} documents inserted, ${data.updated} updated`;
  return respondUpdated(route, { success: true, data, message });
});
