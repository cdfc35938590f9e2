import { defineProjectRoutes } from '../../../shared/http/route.ts';
import {
  ChangesAnswer,
  ChangesQuery,
  DeleteAnswer,
  DeleteQuery,
  GetQuery,
  ListAnswer,
  ListQuery,
} from '../../data/schemas.ts';
import { JsonObject } from '../../schemas.ts';
import { DocumentAnswer } from './schemas.ts';

/** The data browser: the documents of a collection for its developer, by the rules of the secret key (contract 6). */
export const dashboardDocumentRoutes = defineProjectRoutes('documents', {
  'list-project-documents': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/documents',
    summary: 'List, filter, sort, page and count documents',
    query: ListQuery,
    response: { status: 200, body: ListAnswer },
  },
  'list-project-changes': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/changes',
    summary: 'List the documents that changed since a position',
    query: ChangesQuery,
    response: { status: 200, body: ChangesAnswer },
  },
  'create-project-document': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/documents',
    summary: 'Insert a document',
    body: JsonObject,
    response: { status: 201, body: DocumentAnswer },
  },
  'get-project-document': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/documents/{id}',
    summary: 'Get a document',
    query: GetQuery,
    response: { status: 200, body: DocumentAnswer },
  },
  'update-project-document': {
    method: ['PUT', 'PATCH'],
    path: '/api/projects/{projectId}/collections/{collectionName}/documents/{id}',
    summary: 'Update fields of a document, dotted keys included',
    body: JsonObject,
    response: { status: 200, body: DocumentAnswer },
  },
  'delete-project-document': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}/documents/{id}',
    summary: 'Move a document to the trash, or delete it permanently',
    query: DeleteQuery,
    response: { status: 200, body: DeleteAnswer },
  },
});
