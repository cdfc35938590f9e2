import { expect } from 'vitest';
import { type Answer, call } from '../../clients/client.ts';
import { eventually } from '../../clients/eventually.ts';
import { sampleBodies } from '../../samples/route-cases.ts';
import { put } from '../files.ts';
import {
  inDocuments,
  noteLink,
  noteStoredSecrets,
  noteUntold,
  ownDatabase,
  routeNamed,
  secrets,
  send,
  stack,
} from './witness.ts';

/** A document into the trash and out of it, by the data API. */
export const trashADocument = async (parameters: Record<string, string>, key: string): Promise<void> => {
  const made = await send(routeNamed('create-document'), parameters, { key, body: { text: inDocuments } });
  for (const id of ['delete-document', 'restore-document']) {
    await send(routeNamed(id), { ...parameters, id: String(made.body._id) }, { key });
  }
};

/** A database of the developer's own, which our stack may reach; first with an account that it does not know. */
export const keepADatabase = async (parameters: Record<string, string>, token: string, key: string): Promise<void> => {
  const [databasePassword, appName] = ['password-of-an-own-database', 'what-only-the-uri-holds'];
  const refused = `mongodb://ann:${databasePassword}@${ownDatabase.address}/own`;
  await send(routeNamed('connect-database'), parameters, { token, body: { uri: refused } });
  const uri = ownDatabase.uri('own', `appName=${appName}`);
  secrets.push({ what: 'password of a database', value: databasePassword }, { what: 'URI of a database', value: uri });
  secrets.push({ what: 'option of its URI', value: appName });
  expect((await send(routeNamed('connect-database'), parameters, { token, body: { uri } })).status).toBe(200);
  await noteStoredSecrets(parameters.projectId ?? '');
  await send(routeNamed('get-database'), parameters, { token });
  await send(routeNamed('list-documents'), parameters, { key });
  await send(routeNamed('disconnect-database'), parameters, { token });
};

/**
 * All that the data browser, the trash, exports and imports do; the signatures of their links are shown to who asks for
 * them alone.
 */
export const keepDocuments = async (parameters: Record<string, string>, token: string): Promise<void> => {
  const act = (id: string, body?: unknown, more: Record<string, string> = {}) =>
    send(routeNamed(id), { ...parameters, ...more }, { token, ...(body === undefined ? {} : { body }) });
  const idOf = ({ body }: Answer<Record<string, unknown>>) => ({ id: (body.data as { _id: string })._id });
  const document = idOf(await act('create-project-document', { text: inDocuments }));
  await act('update-project-document', { n: 1 }, document);
  await act('get-project-document', undefined, document);
  await act('delete-project-document', undefined, document);
  await act('restore-project-document', undefined, document);
  await act('delete-project-document', undefined, document);
  await act('delete-trashed-document', undefined, document);
  await act('empty-trash');

  const exported = idOf(await act('start-export', sampleBodies['start-export']));
  await eventually(async () => {
    const path = routeNamed('get-export').pathWith({ ...parameters, ...exported });
    const { body } = await call<{ data: { state: string } }>(stack.dashboardUrl, 'GET', path, { token });
    noteUntold();
    expect(body.data.state).toBe('done');
  });
  const { url } = (await act('get-export', undefined, exported)).body.data as { url: string };
  noteLink('signature of an export', url, 'get-export');

  const content = 'text\na';
  const upload = await act('start-import', { format: 'csv', upload: true, size: content.length });
  const { signedUrl } = upload.body.data as { signedUrl: string };
  noteLink('signature of an import', signedUrl, 'start-import');
  await put(signedUrl, content, 'text/csv');
  await act('start-uploaded-import', undefined, idOf(upload));
  await act('get-import', undefined, idOf(upload));

  const unwanted = await act('start-import', { format: 'csv', upload: true, size: content.length });
  noteLink('signature of another', (unwanted.body.data as { signedUrl: string }).signedUrl, 'start-import');
  await act('cancel-transfer', undefined, idOf(unwanted));
  await act('list-transfers');
  await act('delete-transfer', undefined, idOf(unwanted));
};
