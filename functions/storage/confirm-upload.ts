import { fileAccess } from '../../shared/documents/files.ts';
import { confirmUpload, requireDeclaredType, signatureBytes } from '../../shared/files/confirm-upload.ts';
import { uploadWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['confirm-upload'];

export const handler = uploadWriteEndpoint(route).handler(async (_event, { project, caller, input }) => {
  const { filePath, size } = input.body;
  const confirmed = await confirmUpload(project, filePath, size, {
    access: fileAccess(project, caller),
    prove: async (bucket, key, { etag, contentType }) => {
      const start = await bucket.read(key, etag, signatureBytes);
      // A file that was replaced meanwhile is not copied.
      if (start) await requireDeclaredType(contentType, start);
    },
  });
  return respond(route, { message: 'Upload confirmed', ...confirmed });
});
