import { inject } from 'vitest';
import { eventually } from '../../clients/eventually.ts';
import { sampleBodies } from '../../samples/route-cases.ts';
import { put } from '../files.ts';
import { noteLink, noteStoredSecrets, routeNamed, secrets, send } from './witness.ts';

interface Upload {
  readonly signedUrl: string;
  readonly filePath: string;
}

/**
 * Files from their requests to their deletion, by the API and by the dashboard; the signature of a URL is shown to who
 * asks for it alone.
 */
export const keepFiles = async (parameters: Record<string, string>, key: string, token: string): Promise<void> => {
  for (const whose of ['', 'project-']) {
    const [request, confirm] = [`request-${whose}upload`, `confirm-${whose}upload`];
    const asked = await send(routeNamed(request), parameters, { key, token, body: sampleBodies[request] });
    const { signedUrl, filePath } = (whose ? asked.body.data : asked.body) as Upload;
    const signature = new URL(signedUrl).searchParams.get('X-Amz-Signature') ?? '';
    secrets.push({ what: `signature of ${whose || 'an '}upload`, value: signature, shownBy: [request] });
    await put(signedUrl, 'sample');
    await send(routeNamed(confirm), parameters, { key, token, body: { filePath, size: 6 } });
    const visibility = { path: filePath, visibility: 'private' };
    await send(routeNamed(`change-${whose}visibility`), parameters, { key, token, body: visibility });
    await send(routeNamed('delete-file'), {}, { key, body: { path: filePath } });
  }
};

/** An upload in parts, as soon as uploads go to the project's own storage. */
const keepParts = async (key: string, endpoint: string): Promise<void> => {
  const filePath = await eventually(async () => {
    const { body } = await send(routeNamed('request-upload'), {}, { key, body: sampleBodies['request-upload'] });
    const { signedUrl, filePath: path } = body as unknown as Upload;
    noteLink('signature of an upload elsewhere', signedUrl, 'request-upload');
    if (!signedUrl.startsWith(endpoint)) throw new Error('It still goes to ours');
    return path;
  });
  const { body } = await send(routeNamed('request-parts'), {}, { key, body: { filePath } });
  for (const { signedUrl } of (body.data as { parts: readonly Upload[] }).parts) {
    noteLink('signature of a part', signedUrl, 'request-parts');
  }
  await send(routeNamed('delete-file'), {}, { key, body: { path: filePath } });
};

/** A storage of the developer's own, which our stack may reach; what is kept of it, and of what it is reached with. */
export const keepAStorage = async (parameters: Record<string, string>, token: string, key: string): Promise<void> => {
  const body = inject('externalS3');
  await send(routeNamed('connect-storage'), parameters, { token, body });
  secrets.push({ what: 'key of a storage', value: body.secretAccessKey });
  // What is signed for a storage names the key that it is signed with.
  secrets.push({ what: 'its id', value: body.accessKeyId, shownBy: ['request-upload', 'request-parts'] });
  await noteStoredSecrets(parameters.projectId ?? '');
  await keepParts(key, body.endpoint);
  await send(routeNamed('delete-files'), parameters, { token, body: sampleBodies['delete-files'] });
  await send(routeNamed('disconnect-storage'), parameters, { token });
};
