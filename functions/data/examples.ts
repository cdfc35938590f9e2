import { defineExamples } from '../../shared/http/openapi/example.ts';
import { dataRoutes } from './routes.ts';

const collectionName = 'posts';
const id = '6743f0c2a91b5d0012ab34cd';

const ofReads = ['TOKEN_MISSING', 'TOKEN_INVALID', 'MFA_REQUIRED'] as const;
const ofLists = [
  ...(['INVALID_FILTER', 'INVALID_REGEX', 'INVALID_CURSOR', 'SEARCH_NOT_ENABLED'] as const),
  ...(['QUERY_TIMEOUT', 'RESULT_TOO_LARGE', 'TOO_MANY_SLOW_QUERIES'] as const),
  ...ofReads,
];
const ofInserts = ['INVALID_UPDATE', 'DUPLICATE_VALUE', 'DATABASE_QUOTA_EXCEEDED', 'DOCUMENT_TOO_LARGE'] as const;

/** For the API description: a successful request for each route. */
export const dataExamples = defineExamples(dataRoutes, {
  'create-document': {
    params: { collectionName },
    body: { title: 'Hello', views: 10, tags: ['first'], meta: { source: 'import' } },
    isRevised: true,
    failures: ofInserts,
  },
  'create-documents': {
    params: { collectionName },
    body: [
      { title: 'One', views: 1 },
      { title: 'Two', views: 2 },
    ],
    failures: ofInserts,
  },
  'list-documents': {
    params: { collectionName },
    query: { limit: '20', sort: '-views', fields: 'title,views', views_gte: '5', tags: 'first' },
    failures: ofLists,
  },
  'query-documents': {
    params: { collectionName },
    body: {
      where: { $or: [{ views: { $gte: 5 } }, { title: { $startsWith: 'He' } }], tags: 'first' },
      sort: ['-views'],
      fields: ['title', 'views'],
      limit: 20,
    },
    failures: ofLists,
  },
  'list-changes': {
    params: { collectionName },
    query: { since: '0', limit: '100', wait: '0' },
    failures: [
      'INVALID_POSITION',
      'CHANGES_NOT_ENABLED',
      'POSITION_GONE',
      'QUERY_TIMEOUT',
      'RESULT_TOO_LARGE',
      ...ofReads,
    ],
  },
  'get-document': {
    params: { collectionName, id },
    query: { include_deleted: 'false' },
    headers: { 'if-none-match': '"0"' },
    isRevised: true,
    failures: ['INVALID_ID', 'RESULT_TOO_LARGE', 'DOCUMENT_NOT_FOUND', ...ofReads],
  },
  'update-document': {
    params: { collectionName, id },
    body: { views: 11, 'meta.source': 'editor' },
    headers: { 'if-match': '*' },
    isRevised: true,
    failures: [
      'REVISION_MISMATCH',
      'INVALID_ID',
      'INVALID_UPDATE',
      'NOTHING_TO_UPDATE',
      'DOCUMENT_NOT_FOUND',
      'DUPLICATE_VALUE',
      'OWNER_IMMUTABLE',
      'DATABASE_QUOTA_EXCEEDED',
      'DOCUMENT_TOO_LARGE',
    ],
  },
  'delete-document': {
    params: { collectionName, id },
    query: { permanent: 'false' },
    headers: { 'if-match': '*' },
    isRevised: true,
    failures: ['VALIDATION_FAILED', 'REVISION_MISMATCH', 'INVALID_ID', 'DOCUMENT_NOT_FOUND', 'STILL_REFERENCED'],
  },
  'restore-document': {
    params: { collectionName, id },
    headers: { 'if-match': '*' },
    isRevised: true,
    failures: [
      'VALIDATION_FAILED',
      'REVISION_MISMATCH',
      'INVALID_ID',
      'DOCUMENT_NOT_FOUND',
      'DUPLICATE_VALUE',
      'DOCUMENT_TOO_LARGE',
    ],
  },
  'aggregate-documents': {
    params: { collectionName },
    body: { pipeline: [{ $match: { views: { $gte: 1 } } }, { $group: { _id: '$title', views: { $sum: '$views' } } }] },
    failures: [
      'INVALID_PIPELINE',
      'BLOCKED_STAGE',
      'QUERY_TIMEOUT',
      'RESULT_TOO_LARGE',
      'TOO_MANY_AGGREGATIONS',
      ...ofReads,
    ],
  },
  'get-schema': { params: { collectionName }, failures: ['SECRET_KEY_REQUIRED'] },
});
