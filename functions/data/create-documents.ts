import { withEffects } from '../../shared/documents/store/effect-writes.ts';
import { createDocuments } from '../../shared/documents/store/insert-many.ts';
import { upsertDocuments } from '../../shared/documents/store/upsert-many.ts';
import { dataWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond, respondUpdated } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['create-documents'];

export const handler = dataWriteEndpoint(route).handler(async (_event, { access, input }) => {
  const { onConflict } = input.query;
  if (onConflict === undefined) {
    const data = await withEffects(access, ['create'], () => createDocuments(access, input.body));
    return respond(route, { success: true, data, message: `${data.insertedCount} documents inserted` });
  }
  const upsert = () => upsertDocuments(access, input.body, onConflict);
  const data = await withEffects(access, ['create', 'update'], upsert);
  const message = `${data.inserted} documents inserted, ${data.updated} updated`;
  return respondUpdated(route, { success: true, data, message });
});
