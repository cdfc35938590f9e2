import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { PageQuery } from '../schemas.ts';
import {
  CollectionAnswer,
  CollectionChangesBody,
  CollectionPage,
  CollectionSavedAnswer,
  CollectionsQuery,
  DeletedAnswer,
  EffectTrialAnswer,
  EffectTrialBody,
  IndexAnswer,
  IndexPage,
  NewCollectionBody,
  NewIndexBody,
  TrialAnswer,
  TrialBody,
} from './schemas.ts';

const collectionName = 'posts';
const fields = [
  { key: 'title', type: 'String', required: true },
  { key: 'views', type: 'Number' },
  { key: 'published', type: 'Date' },
  { key: 'tags', type: 'Array', items: { type: 'String' } },
  { key: 'meta', type: 'Object', fields: [{ key: 'source', type: 'String' }] },
];

export const dashboardCollectionRoutes = defineProjectRoutes('collections', {
  'create-collection': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections',
    summary: 'Create a collection, with a schema or schema-free',
    body: NewCollectionBody,
    response: { status: 201, body: CollectionSavedAnswer },
    example: { body: { name: collectionName, schema: fields, rls: { enabled: false }, changes: true } },
    errors: ['INVALID_NAME', 'INVALID_SCHEMA', 'INVALID_RLS', 'INVALID_EFFECT', 'COLLECTION_EXISTS', 'PLAN_LIMIT'],
  },
  'list-collections': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections',
    summary: 'List collections by name',
    query: CollectionsQuery,
    response: { status: 200, body: CollectionPage },
  },
  'get-collection': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}',
    summary: 'Get a collection',
    response: { status: 200, body: CollectionAnswer },
  },
  'update-collection': {
    method: 'PUT',
    path: '/api/projects/{projectId}/collections/{collectionName}',
    summary: 'Update schema and row security; stored documents must fit',
    body: CollectionChangesBody,
    response: { status: 200, body: CollectionSavedAnswer },
    example: { body: { schema: [...fields, { key: 'subtitle', type: 'String' }] } },
    errors: ['INVALID_NAME', 'INVALID_SCHEMA', 'INVALID_RLS', 'INVALID_EFFECT', 'SCHEMA_CONFLICT', 'COLLECTION_EXISTS'],
  },
  'delete-collection': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}',
    summary: 'Delete a collection with all its documents; with users, their sessions end',
    response: { status: 200, body: DeletedAnswer },
    errors: ['SCHEMA_CONFLICT'],
  },
  'try-rules': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/rules/try',
    // A POST that only reads documents.
    handsOut: ['documents:read'],
    audit: false,
    summary: 'Try access rules: the result for a caller, and why',
    body: TrialBody,
    response: { status: 200, body: TrialAnswer },
    example: {
      body: { operation: 'get', userId: '6743f0c2a91b5d0012ab34ce', document: { title: 'Hello', published: null } },
    },
    errors: ['INVALID_ID', 'VALIDATION_FAILED', 'DOCUMENT_NOT_FOUND'],
  },
  'try-effects': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/effects/try',
    // A POST that only reads documents.
    handsOut: ['documents:read'],
    audit: false,
    summary: 'Try effects: what a write would set, write and send',
    body: EffectTrialBody,
    response: { status: 200, body: EffectTrialAnswer },
    example: {
      body: {
        operation: 'create',
        document: { title: 'Hello' },
        effects: [{ on: 'create', set: { subtitle: { $lower: { $doc: 'title' } } } }],
      },
    },
    errors: ['INVALID_ID', 'INVALID_EFFECT', 'EFFECT_REFUSED', 'DOCUMENT_NOT_FOUND'],
  },
  'list-indexes': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/indexes',
    summary: 'List custom indexes of a collection',
    query: PageQuery,
    response: { status: 200, body: IndexPage },
  },
  'create-index': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/indexes',
    summary: 'Build an index: ascending, descending, 2dsphere or text',
    body: NewIndexBody,
    response: { status: 201, body: IndexAnswer },
    example: { body: { keys: { views: -1, title: 1 }, name: 'by-views' } },
    errors: ['INVALID_INDEX', 'INDEX_EXISTS', 'LIMIT_REACHED'],
  },
  'delete-index': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}/indexes/{indexName}',
    summary: 'Drop a custom index',
    response: { status: 200, body: DeletedAnswer },
    errors: ['INDEX_NOT_FOUND'],
  },
});
