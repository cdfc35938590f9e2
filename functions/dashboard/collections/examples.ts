import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';
const collectionName = 'posts';

const fields = [
  { key: 'title', type: 'String', required: true },
  { key: 'views', type: 'Number' },
  { key: 'published', type: 'Date' },
  { key: 'tags', type: 'Array', items: { type: 'String' } },
  { key: 'meta', type: 'Object', fields: [{ key: 'source', type: 'String' }] },
];

/** For the API description: a successful request for each route. */
export const dashboardCollectionExamples = defineExamples(dashboardCollectionRoutes, {
  'create-collection': {
    params: { projectId },
    body: { name: collectionName, schema: fields, rls: { enabled: false }, changes: true },
    failures: ['INVALID_NAME', 'INVALID_SCHEMA', 'INVALID_RLS', 'COLLECTION_EXISTS', 'PLAN_LIMIT'],
  },
  'list-collections': { params: { projectId }, query: { page: '1', limit: '20' } },
  'get-collection': { params: { projectId, collectionName } },
  'update-collection': {
    params: { projectId, collectionName },
    body: { schema: [...fields, { key: 'subtitle', type: 'String' }] },
    failures: ['INVALID_NAME', 'INVALID_SCHEMA', 'INVALID_RLS', 'SCHEMA_CONFLICT', 'COLLECTION_EXISTS'],
  },
  'delete-collection': { params: { projectId, collectionName }, failures: ['SCHEMA_CONFLICT'] },
  'try-rules': {
    params: { projectId, collectionName },
    body: { operation: 'get', userId: '6743f0c2a91b5d0012ab34ce', document: { title: 'Hello', published: null } },
    failures: ['INVALID_ID', 'VALIDATION_FAILED', 'DOCUMENT_NOT_FOUND'],
  },
  'list-indexes': { params: { projectId, collectionName }, query: { page: '1', limit: '20' } },
  'create-index': {
    params: { projectId, collectionName },
    body: { keys: { views: -1, title: 1 }, name: 'by-views' },
    failures: ['INVALID_INDEX', 'INDEX_EXISTS', 'LIMIT_REACHED'],
  },
  'delete-index': { params: { projectId, collectionName, indexName: 'by-views' }, failures: ['INDEX_NOT_FOUND'] },
});
