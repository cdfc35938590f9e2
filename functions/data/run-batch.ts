import { collectionsOf, runBatch, runEach } from '../../shared/documents/store/batch.ts';
import { wakeForDocuments } from '../../shared/http/middleware/collection.ts';
import { batchEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['run-batch'];

export const handler = batchEndpoint(route).handler(async (_event, { project, caller, input }) => {
  const { writes, each } = input.body;
  const batch = { project, caller, writes };
  const data = each ? await runEach(batch) : await runBatch(batch);
  await wakeForDocuments(project, await collectionsOf(batch));
  const done = data.results.filter(({ status }) => status < 300).length;
  return respond(route, { success: true, data, message: `${done} writes done` });
});
