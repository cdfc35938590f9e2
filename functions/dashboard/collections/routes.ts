import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { PageQuery } from '../schemas.ts';
import {
  CollectionAnswer,
  CollectionChangesBody,
  CollectionPage,
  CollectionSavedAnswer,
  DeletedAnswer,
  IndexAnswer,
  IndexPage,
  NewCollectionBody,
  NewIndexBody,
  TrialAnswer,
  TrialBody,
} from './schemas.ts';

/** Collections of a project, their schemas, and indexes of the developer's own (contract 6). */
export const dashboardCollectionRoutes = defineProjectRoutes('collections', {
  'create-collection': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections',
    summary: 'Create a collection, with a schema or schema-free',
    body: NewCollectionBody,
    response: { status: 201, body: CollectionSavedAnswer },
  },
  'list-collections': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections',
    summary: 'List collections by name',
    query: PageQuery,
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
  },
  'delete-collection': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}',
    summary: 'Delete a collection with all its documents; with users, their sessions end',
    response: { status: 200, body: DeletedAnswer },
  },
  'try-rules': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/rules/try',
    // It tells of documents, and changes nothing.
    handsOut: ['documents:read'],
    audit: false,
    summary: 'Try access rules: the result for a caller, and why',
    body: TrialBody,
    response: { status: 200, body: TrialAnswer },
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
  },
  'delete-index': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}/indexes/{indexName}',
    summary: 'Drop a custom index',
    response: { status: 200, body: DeletedAnswer },
  },
});
