import type { DocumentRow } from '../document-row.ts';
import type { LoadRequest } from '../load.ts';
import { counter, inTurn } from '../operation.ts';
import { authors, sampleDocument } from '../samples.ts';

type Request = (collection: string, ids: readonly string[]) => LoadRequest;

const recordsOf = (collection: string): string => `/api/collections/${collection}/records`;

/** PocketBase's own advice for the newest first: SQLite's row order is faster than any index. */
const newest = { perPage: '20', sort: '-@rowid' };

const query = (parameters: Readonly<Record<string, string>>): string => new URLSearchParams(parameters).toString();

const list: Request = (collection) => {
  const path = `${recordsOf(collection)}?${query(newest)}`;
  return { method: 'GET', path: () => path };
};

const get: Request = (collection, ids) => {
  const id = inTurn(ids);
  return { method: 'GET', path: () => `${recordsOf(collection)}/${id()}` };
};

/** Document operations with PocketBase's REST API and a superuser's token, without rules. */
export const pocketBaseDocuments: Readonly<Partial<Record<DocumentRow, Request>>> = {
  create: (collection) => {
    const index = counter();
    return { method: 'POST', path: () => recordsOf(collection), body: () => JSON.stringify(sampleDocument(index())) };
  },
  get,
  getAlone: get,
  list,
  listMany: list,
  filter: (collection) => {
    const index = counter();
    const of = (author: string): string => query({ ...newest, skipTotal: '1', filter: `author='${author}'` });
    return { method: 'GET', path: () => `${recordsOf(collection)}?${of(`author-${(index() * 7) % authors}`)}` };
  },
  update: (collection, ids) => {
    const id = inTurn(ids);
    const index = counter();
    const body = () => JSON.stringify({ likes: index() });
    return { method: 'PATCH', path: () => `${recordsOf(collection)}/${id()}`, body };
  },
  delete: (collection, ids) => {
    const id = inTurn(ids);
    return { method: 'DELETE', path: () => `${recordsOf(collection)}/${id()}` };
  },
};
