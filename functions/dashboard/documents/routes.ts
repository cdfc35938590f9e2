import type { ErrorCode } from '../../../shared/core/errors.ts';
import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { dataRoutes } from '../../data/routes.ts';
import {
  AggregateAnswer,
  AggregateBody,
  ChangesAnswer,
  ChangesQuery,
  DeleteAnswer,
  DeleteQuery,
  IncludeDeletedQuery,
  ListAnswer,
  ManyAnswer,
  ManyDeleteBody,
  ManyUpdateBody,
  UpdateBody,
  WriteQuery,
} from '../../data/schemas.ts';
import { JsonObject } from '../../schemas.ts';
import { DocumentAnswer, ViewedGetQuery, ViewedListQuery } from './schemas.ts';

const ofUsers: readonly ErrorCode[] = ['TOKEN_MISSING', 'TOKEN_INVALID', 'MFA_REQUIRED'];
const errorsOf = (name: keyof typeof dataRoutes): readonly ErrorCode[] =>
  dataRoutes[name].errors.filter((code) => !ofUsers.includes(code));

export const dashboardDocumentRoutes = defineProjectRoutes('documents', {
  'list-project-documents': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/documents',
    summary: 'List, filter, sort, page and count documents',
    query: ViewedListQuery,
    response: { status: 200, body: ListAnswer },
    example: { query: { limit: '20', sort: '-views', views_gte: '1' } },
    errors: errorsOf('list-documents'),
  },
  'list-project-changes': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/changes',
    summary: 'List the documents that changed since a position',
    query: ChangesQuery,
    response: { status: 200, body: ChangesAnswer },
    example: { query: { since: '0', limit: '100', wait: '0', where: '{"views":{"$gte":5}}' } },
    errors: errorsOf('list-changes'),
  },
  'aggregate-project-documents': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/aggregate',
    reads: true,
    summary: 'Run an aggregation pipeline',
    query: IncludeDeletedQuery,
    body: AggregateBody,
    response: { status: 200, body: AggregateAnswer },
    example: {
      body: {
        pipeline: [{ $match: { views: { $gte: 1 } } }, { $group: { _id: '$title', views: { $sum: '$views' } } }],
      },
    },
    errors: errorsOf('aggregate-documents'),
  },
  'create-project-document': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/documents',
    summary: 'Insert a document',
    body: JsonObject,
    response: { status: 201, body: DocumentAnswer },
    example: { body: { title: 'Hello', views: 10, tags: ['first'] } },
    isRevised: true,
    errors: errorsOf('create-document'),
  },
  'update-project-documents': {
    method: 'PATCH',
    path: '/api/projects/{projectId}/collections/{collectionName}/documents',
    summary: 'Update every document that matches a condition',
    body: ManyUpdateBody,
    response: { status: 200, body: ManyAnswer },
    example: { body: { where: { views: { $lt: 5 } }, changes: { title: 'Rarely read' } } },
    errors: errorsOf('update-documents'),
  },
  'delete-project-documents': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/documents/delete',
    summary: 'Delete every document that matches a condition',
    body: ManyDeleteBody,
    response: { status: 200, body: ManyAnswer },
    example: { body: { where: { tags: 'old' }, permanent: false } },
    errors: errorsOf('delete-documents'),
  },
  'get-project-document': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/documents/{id}',
    summary: 'Get a document',
    query: ViewedGetQuery,
    response: { status: 200, body: DocumentAnswer },
    example: { query: { include_deleted: 'true' }, headers: { 'if-none-match': '"0"' } },
    isRevised: true,
    errors: errorsOf('get-document'),
  },
  'update-project-document': {
    method: ['PUT', 'PATCH'],
    path: '/api/projects/{projectId}/collections/{collectionName}/documents/{id}',
    summary: 'Update fields of a document, dotted keys and operators included',
    query: WriteQuery,
    body: UpdateBody,
    response: { status: 200, body: DocumentAnswer },
    example: { headers: { 'if-match': '*' }, body: { views: 11, 'meta.source': 'editor' } },
    isRevised: true,
    errors: errorsOf('update-document'),
  },
  'delete-project-document': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}/documents/{id}',
    summary: 'Move a document to the trash, or delete it permanently',
    query: DeleteQuery,
    response: { status: 200, body: DeleteAnswer },
    example: { query: { permanent: 'false' }, headers: { 'if-match': '*' } },
    isRevised: true,
    errors: errorsOf('delete-document'),
  },
});
