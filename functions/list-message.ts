import type { DocumentCount, DocumentPage } from '../shared/documents/query/list-documents.ts';

export const listMessage = (data: DocumentPage | DocumentCount): string =>
  'count' in data ? 'Count fetched successfully' : 'Data fetched successfully';
