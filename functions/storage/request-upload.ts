import { attachTo } from '../../shared/documents/files.ts';
import { alwaysPrivate } from '../../shared/files/move-file.ts';
import { requestUpload, requestUserUpload } from '../../shared/files/request-upload.ts';
import { namedCollection } from '../../shared/http/middleware/collection.ts';
import { uploadWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['request-upload'];

export const handler = uploadWriteEndpoint(route).handler(async (_event, { project, caller, input, run }) => {
  const { of: document, ...sent } = input.body;
  if (document && sent.visibility === 'public') throw alwaysPrivate();
  const upload = document
    ? {
        ...sent,
        visibility: 'private' as const,
        of: await attachTo(
          { project, caller, collection: await namedCollection(project, document.collection) },
          document.id,
        ),
      }
    : sent;
  const { kind, userId: owner } = caller;
  if (kind === 'publishable') return respond(route, await requestUserUpload(project, owner, upload, run));
  return respond(route, await requestUpload(project, { ...upload, owner }, run));
});
