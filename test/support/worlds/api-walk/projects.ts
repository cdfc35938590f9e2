import { eventually } from '../../clients/eventually.ts';
import { users } from '../../clients/social.ts';
import { prepare, type WalkContext } from './context.ts';
import type { Data } from './walk.ts';

/** What signs the events of the project's own account at the mail provider. */
export const projectWebhookSecret = 'whsec_c2FtcGxlLXNlY3JldC1vZi1hLXdhbGs=';

/** A project, its settings and keys, and the collections that all else needs. */
export const walkProject = async (context: WalkContext): Promise<void> => {
  const { dashboard, open } = context;
  const made = await dashboard.run('create-project');
  const { _id: projectId = '', publishableKey = '' } = made.body.data;
  dashboard.params = { projectId };
  await dashboard.run('list-projects');
  await dashboard.run('get-project');
  await dashboard.run('update-project');
  await prepare(context, 'PATCH', `/api/projects/${projectId}`, { providerWebhookSecret: projectWebhookSecret });
  await dashboard.run('rotate-signing-key');
  const rotated = await dashboard.run('rotate-key');
  open.credentials = { publishableKey, secretKey: rotated.body.data.key ?? '' };
  open.params = { projectId };

  await dashboard.run('create-collection');
  await prepare(context, 'POST', `/api/projects/${projectId}/collections`, users);
  await dashboard.run('list-collections');
  await dashboard.run('get-collection');
  await dashboard.run('update-collection');
  await dashboard.run('create-index');
  await dashboard.run('list-indexes');
  await dashboard.run('delete-index');
  context.model.says(JSON.stringify({ name: 'orders', schema: [{ key: 'paid', type: 'Boolean', default: false }] }));
  await dashboard.run('propose-schema');
};

/** Documents by both APIs, through the trash and back. */
export const walkDocuments = async ({ dashboard, open }: WalkContext): Promise<void> => {
  const added = await dashboard.run('create-project-document');
  const id = { params: { id: added.body.data._id ?? '' } };
  await dashboard.run('list-project-documents');
  await dashboard.run('list-project-changes');
  await dashboard.run('get-project-document', id);
  await dashboard.run('update-project-document', id);
  await dashboard.run('update-project-document-patch', id);
  await dashboard.run('delete-project-document', id);
  await dashboard.run('list-trash');
  await dashboard.run('restore-project-document', id);
  await dashboard.run('delete-project-document', id);
  await dashboard.run('delete-trashed-document', id);

  const created = await open.run<{ readonly _id: string }>('create-document');
  const own = { params: { id: created.body._id } };
  await open.run('create-documents');
  await open.run('list-documents');
  await open.run('query-documents');
  await open.run('list-changes');
  await open.run('create-ticket');
  await open.run('get-document', own);
  await open.run('update-document', own);
  await open.run('update-document-patch', own);
  await open.run('aggregate-documents');
  await open.run('get-schema');
  await open.run('delete-document', own);
  await open.run('restore-document', own);
  await open.run('delete-document', own);
  await dashboard.run('empty-trash');
};

/** Waits until a transfer has ended. */
const ended = (run: () => Promise<string | undefined>) =>
  eventually(async () => {
    const state = await run();
    if (state !== 'done') throw new Error(`It is ${state}`);
  });

/** An export and an import, in the background. */
export const walkTransfers = async ({ dashboard }: WalkContext): Promise<void> => {
  const started = await dashboard.run('start-export');
  const exported = { params: { id: started.body.data._id ?? '' } };
  await ended(async () => (await dashboard.run('get-export', exported)).body.data.state);
  const begun = await dashboard.run('start-import');
  const { _id: id = '', signedUrl = '', contentType = '' } = begun.body.data;
  const headers = { 'content-type': contentType };
  await fetch(signedUrl, { method: 'PUT', headers, body: 'title,views\nImported,30\n' });
  await dashboard.run('start-uploaded-import', { params: { id } });
  await ended(async () => (await dashboard.run('get-import', { params: { id } })).body.data.state);
  await dashboard.run('list-transfers');
  const awaited = await dashboard.run('start-import');
  const unwanted = { params: { id: awaited.body.data._id ?? '' } };
  await dashboard.run('cancel-transfer', unwanted);
  await dashboard.run('delete-transfer', unwanted);
};

/** An upload in parts, as soon as it goes to the project's own storage. */
const walkParts = async (open: WalkContext['open'], endpoint: string): Promise<void> => {
  const filePath = await eventually(async () => {
    const { body } = await open.run<{ readonly signedUrl: string; readonly filePath: string }>('request-upload');
    if (!body.signedUrl.startsWith(endpoint)) throw new Error('It still goes to ours');
    return body.filePath;
  });
  await open.run('request-parts', { body: { filePath, size: undefined } });
  await open.run('delete-file', { body: { path: filePath } });
};

/** What a developer reads last, and the end of the project. */
export const walkEnd = async ({ open, dashboard, databaseUri, externalS3 }: WalkContext): Promise<void> => {
  await dashboard.run('list-audit-entries');
  await dashboard.run('get-usage');
  await dashboard.run('get-request-stats', {
    query: { day: new Date().toISOString().slice(0, 10), days: '2' },
  });
  await dashboard.run('list-missing-indexes');
  await dashboard.run('connect-storage', { body: { ...externalS3 } });
  await walkParts(open, externalS3.endpoint);
  await dashboard.run('disconnect-storage');
  await dashboard.run('get-database');
  await dashboard.run('connect-database', { body: { uri: databaseUri } });
  await dashboard.run('disconnect-database');
  await dashboard.run('delete-collection');
  await dashboard.run('delete-project');
};

/** What both APIs say about themselves. */
export const walkService = async ({ dashboard, open }: WalkContext): Promise<void> => {
  await open.run<Data>('get-openapi');
  await open.run('get-health');
  await open.run('get-types');
  await dashboard.run('get-dashboard-openapi');
  await dashboard.run('get-dashboard-health');
};
