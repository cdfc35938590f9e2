import type { ErrorCode } from '../../../shared/core/errors.ts';
import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dataExamples } from '../../data/examples.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';
const collectionName = 'posts';
const id = '6743f0c2a91b5d0012ab34ce';
const ofUsers: readonly ErrorCode[] = ['TOKEN_MISSING', 'TOKEN_INVALID', 'MFA_REQUIRED'];
const failuresOf = (name: string) => {
  const { failures = [] } = dataExamples[name] ?? {};
  return failures.filter((code) => !ofUsers.includes(code));
};

/** For the API description: a successful request for each route. */
export const dashboardDocumentExamples = defineExamples(dashboardDocumentRoutes, {
  'list-project-documents': {
    params: { projectId, collectionName },
    query: { limit: '20', sort: '-views', views_gte: '1' },
    failures: failuresOf('list-documents'),
  },
  'list-project-changes': {
    params: { projectId, collectionName },
    query: { since: '0', limit: '100', wait: '0' },
    failures: failuresOf('list-changes'),
  },
  'create-project-document': {
    params: { projectId, collectionName },
    body: { title: 'Hello', views: 10, tags: ['first'] },
    isRevised: true,
    failures: failuresOf('create-document'),
  },
  'get-project-document': {
    params: { projectId, collectionName, id },
    query: { include_deleted: 'true' },
    headers: { 'if-none-match': '"0"' },
    isRevised: true,
    failures: failuresOf('get-document'),
  },
  'update-project-document': {
    params: { projectId, collectionName, id },
    body: { views: 11, 'meta.source': 'editor' },
    headers: { 'if-match': '*' },
    isRevised: true,
    failures: failuresOf('update-document'),
  },
  'delete-project-document': {
    params: { projectId, collectionName, id },
    query: { permanent: 'false' },
    headers: { 'if-match': '*' },
    isRevised: true,
    failures: failuresOf('delete-document'),
  },
});
