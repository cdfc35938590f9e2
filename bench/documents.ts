import type { Db } from 'mongodb';
import type { DocumentRow } from './document-row.ts';
import { gists } from './gists.ts';
import type { LoadRequest } from './load.ts';
import { type Compared, counter, inTurn, type Name, type Operation } from './operation.ts';
import { parseDocuments } from './parse/documents.ts';
import { fillPeer, peerIdsOf } from './parse/seed.ts';
import { authors, sampleBulk, sampleDocument, sumsOf } from './samples.ts';
import { fill, idsOf, joined } from './seed.ts';

/** More documents than a server can delete in a second, so that every request finds one. */
const deletionsPerSecond = 9000;

/**
 * What is done with documents of a collection; `ids` are some that exist, in an order of their own for each
 * measurement.
 */
interface DocumentOperation extends Compared {
  /**
   * Adds documents or uses them up, so it has a collection of its own: all contenders read the same data throughout.
   */
  readonly changesSize?: 'grows' | 'shrinks';
  /** Reads the collection whose documents refer to others. */
  readonly joins?: true;
  readonly longer?: number;
  readonly request: (collection: string, ids: readonly string[]) => LoadRequest;
}

/** More would only wait: each request is as much work as a hundred. */
const bulkConnections = 4;

const area = 'documents';

const onDocument =
  (method: 'GET' | 'DELETE') =>
  (collection: string, ids: readonly string[]): LoadRequest => {
    const id = inTurn(ids);
    return { method, path: () => `/api/data/${collection}/${id()}` };
  };

const get = (path: string): LoadRequest => ({ method: 'GET', path: () => path });

const post = (path: string, body: (index: number) => unknown): LoadRequest => {
  const index = counter();
  return { method: 'POST', path: () => path, body: () => JSON.stringify(body(index())) };
};

const operations: Readonly<Record<DocumentRow, DocumentOperation>> = {
  create: {
    name: 'create',
    area,
    changesSize: 'grows',
    aim: { cpu: 1.5, speed: 0.75, counted: 0.4 },
    request: (collection) => post(`/api/data/${collection}`, sampleDocument),
  },
  bulk: {
    name: 'create 100 at once',
    area,
    changesSize: 'grows',
    aim: { speed: 0.7, counted: 0.6 },
    longer: 2,
    request: (collection) => ({ ...post(`/api/data/${collection}/bulk`, sampleBulk), connections: bulkConnections }),
  },
  get: { name: 'get', area, aim: { cpu: 1.5, speed: 0.6, counted: 0.25 }, request: onDocument('GET') },
  list: {
    name: 'list 20 newest, with total',
    area,
    aim: { cpu: 1.7, speed: 0.7, counted: 0.38 },
    request: (collection) => get(`/api/data/${collection}?limit=20`),
  },
  filter: {
    name: 'filter by an indexed field',
    area,
    aim: { cpu: 1.5, speed: 0.7, counted: 0.33 },
    request: (collection) => {
      const index = counter();
      return { method: 'GET', path: () => `/api/data/${collection}?author=author-${(index() * 7) % authors}&limit=20` };
    },
  },
  populate: {
    name: 'list 20, populated',
    area,
    aim: { speed: 0.5, counted: 0.35 },
    joins: true,
    request: (collection) => get(`/api/data/${collection}?populate=writer&limit=20`),
  },
  aggregate: {
    name: 'aggregate',
    area,
    aim: { speed: 0.6, counted: 0.3 },
    request: (collection) => post(`/api/data/${collection}/aggregate`, (index) => ({ pipeline: sumsOf(index) })),
  },
  update: {
    name: 'update',
    area,
    aim: { cpu: 1.7, speed: 0.6, counted: 0.33 },
    request: (collection, ids) => {
      const id = inTurn(ids);
      const index = counter();
      return {
        method: 'PATCH',
        path: () => `/api/data/${collection}/${id()}`,
        body: () => JSON.stringify({ likes: index() }),
      };
    },
  },
  delete: {
    name: 'delete',
    area,
    aim: { cpu: 1.6, speed: 0.8, counted: 0.37 },
    changesSize: 'shrinks',
    request: onDocument('DELETE'),
  },
};

/** The collection of a contender for operations that change its size; the peer's names have no hyphens. */
export const writesOf = (name: string): string => (name === 'peer' ? 'peer_writes' : `${name}-writes`);

const collectionOf = ({ changesSize, joins }: DocumentOperation, name: Name): string => {
  if (joins) return joined;
  return changesSize ? writesOf(name) : name;
};

const most = 10_000;

/** What is done with documents: the projects' own in `database`, the peer's in `peerDatabase`. */
export const documentOperations = (database: Db, peerDatabase: Db): Operation[] =>
  Object.entries<DocumentOperation>(operations).map(([row, operation]) => {
    const shrinks = operation.changesSize === 'shrinks';
    return {
      ...operation,
      peer: true,
      usesUp: shrinks,
      ...(gists[row as DocumentRow] && { gist: gists[row as DocumentRow] }),
      prepare: async (name, _target, seconds) => {
        const collection = collectionOf(operation, name);
        const count = Math.ceil(deletionsPerSecond * seconds);
        if (name === 'peer') {
          const documents = peerDatabase.collection<{ _id: string }>(collection);
          if (shrinks) await fillPeer(documents, count);
          const ids = await peerIdsOf(documents, shrinks ? Number.MAX_SAFE_INTEGER : most);
          const { connections } = operation.request(collection, ids);
          return { ...parseDocuments[row as DocumentRow](collection, ids), ...(connections && { connections }) };
        }
        const documents = database.collection(collection);
        if (shrinks) await fill(documents, count, () => undefined);
        return operation.request(collection, await idsOf(documents, shrinks ? Number.MAX_SAFE_INTEGER : most));
      },
    };
  });
