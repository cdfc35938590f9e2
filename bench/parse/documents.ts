import type { DocumentRow, OwnRow } from '../document-row.ts';
import type { LoadRequest } from '../load.ts';
import { counter, inTurn } from '../operation.ts';
import { authors, sampleBulk, sampleDocument, sumsOf } from '../samples.ts';
import { asServer } from './keys.ts';

type Request = (className: string, ids: readonly string[]) => LoadRequest;

const headers = () => asServer;
const query = (parameters: Readonly<Record<string, string>>): string => new URLSearchParams(parameters).toString();
const newest = { order: '-createdAt', limit: '20' };

const get = (path: () => string): LoadRequest => ({ method: 'GET', headers, path });

const getOne: Request = (className, ids) => {
  const id = inTurn(ids);
  return get(() => `/parse/classes/${className}/${id()}`);
};

const list: Request = (className) => {
  const path = `/parse/classes/${className}?${query({ ...newest, count: '1' })}`;
  return get(() => path);
};

/** Document operations with Parse Server's REST API and its master key, without permission checks. */
export const parseDocuments: Readonly<Record<Exclude<DocumentRow, OwnRow>, Request>> = {
  create: (className) => {
    const index = counter();
    const body = () => JSON.stringify(sampleDocument(index()));
    return { method: 'POST', headers, path: () => `/parse/classes/${className}`, body };
  },
  bulk: (className) => {
    const index = counter();
    const path = `/parse/classes/${className}`;
    const body = () =>
      JSON.stringify({ requests: sampleBulk(index()).map((document) => ({ method: 'POST', path, body: document })) });
    return { method: 'POST', headers, path: () => '/parse/batch', body };
  },
  get: getOne,
  getAlone: getOne,
  list,
  listMany: list,
  filter: (className) => {
    const index = counter();
    const where = () => JSON.stringify({ author: `author-${(index() * 7) % authors}` });
    return get(() => `/parse/classes/${className}?${query({ ...newest, where: where() })}`);
  },
  populate: (className) => {
    const path = `/parse/classes/${className}?${query({ ...newest, count: '1', include: 'writer' })}`;
    return get(() => path);
  },
  aggregate: (className) => {
    const index = counter();
    return get(() => `/parse/aggregate/${className}?${query({ pipeline: JSON.stringify(sumsOf(index())) })}`);
  },
  update: (className, ids) => {
    const id = inTurn(ids);
    const index = counter();
    const body = () => JSON.stringify({ likes: index() });
    return { method: 'PUT', headers, path: () => `/parse/classes/${className}/${id()}`, body };
  },
  delete: (className, ids) => {
    const id = inTurn(ids);
    return { method: 'DELETE', headers, path: () => `/parse/classes/${className}/${id()}` };
  },
};
