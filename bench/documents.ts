import type { Db } from 'mongodb';
import type { Contender } from './contender.ts';
import type { DocumentRow } from './document-row.ts';
import { fed, positionsOf } from './feed.ts';
import { gists } from './gists.ts';
import type { LoadRequest } from './load.ts';
import { type Compared, counter, inTurn, isPeer, type Name, type Operation, type Peer, peers } from './operation.ts';
import { parseDocuments } from './parse/documents.ts';
import { fillPeer, peerIdsOf } from './parse/seed.ts';
import { pocketBaseDocuments } from './pocketbase/documents.ts';
import { fillPocketBase, pocketBaseIdsOf } from './pocketbase/seed.ts';
import type { PocketBase } from './pocketbase/start.ts';
import { authors, sampleBulk, sampleDocument, sumsOf } from './samples.ts';
import { fill, idsOf, joined, searched, stampsOf } from './seed.ts';

/** More documents than a server can delete per second, so that every request finds one. */
const deletionsPerSecond = 9000;

/** An operation on documents; `ids` are existing ones, in a different order for each measurement. */
interface DocumentOperation extends Compared {
  /** Changes the number of documents, so it uses a collection of its own. All contenders always read the same data. */
  readonly changesSize?: 'grows' | 'shrinks';
  /** Reads another collection: one with references, or a large one. */
  readonly reads?: typeof joined | typeof many | typeof searched | typeof fed;
  readonly longer?: number;
  /** Used instead of ids. */
  readonly idsOf?: (target: Contender) => Promise<readonly string[]>;
  readonly request: (collection: string, ids: readonly string[]) => LoadRequest;
}

/** More would only wait, because each request is as much work as a hundred. */
const bulkConnections = 4;

/** A collection that all contenders read, and the row that reads it. */
export const many = 'many';
export const manyCount = 100_000;
export const manyRow = 'list 20 of 100,000, with total';

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

const list: DocumentOperation['request'] = (collection) => get(`/api/data/${collection}?limit=20`);

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
  getAlone: {
    name: 'get, one connection',
    area,
    aim: { cpu: 1.5, speed: 0.75 },
    request: (collection, ids) => ({ ...onDocument('GET')(collection, ids), connections: 1 }),
  },
  list: {
    name: 'list 20 newest, with total',
    area,
    aim: { cpu: 1.7, speed: 0.7, counted: 0.38 },
    request: list,
  },
  listMany: {
    name: manyRow,
    area,
    aim: { cpu: 1.7, speed: 0.7 },
    reads: many,
    request: list,
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
  where: {
    name: 'where, one of two indexed fields',
    area,
    aim: { speed: 0.6 },
    reads: searched,
    request: (collection) => {
      const index = counter();
      const where = (number: number) =>
        JSON.stringify({ $or: [{ author: `author-${(number * 7) % authors}` }, { likes: (number * 7) % 500 }] });
      return {
        method: 'GET',
        path: () => `/api/data/${collection}?limit=50&where=${encodeURIComponent(where(index()))}`,
      };
    },
  },
  search: {
    name: 'search for a word',
    area,
    aim: { speed: 0.6 },
    reads: searched,
    request: (collection) => {
      const index = counter();
      return { method: 'GET', path: () => `/api/data/${collection}?limit=20&search=${(index() * 7) % 10_000}` };
    },
  },
  feed: {
    name: 'changes since a position, 20',
    area,
    reads: fed,
    idsOf: positionsOf,
    request: (collection, ids) => {
      const since = inTurn(ids);
      return { method: 'GET', path: () => `/api/data/${collection}/changes?since=${since()}&limit=20` };
    },
  },
  populate: {
    name: 'list 20, populated',
    area,
    aim: { speed: 0.5, counted: 0.35 },
    reads: joined,
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

/** A contender's collection for operations that change its size. Other products allow no hyphens in names. */
export const writesOf = (name: Name): string => (isPeer(name) ? `${name}_writes` : `${name}-writes`);

/** Additional collections of another product. */
export const collectionsOf = (peer: Peer): readonly string[] => [peer, writesOf(peer), many];

const collectionOf = ({ changesSize, reads }: DocumentOperation, name: Name): string =>
  reads ?? (changesSize ? writesOf(name) : name);

const most = 10_000;

interface Databases {
  readonly database: Db;
  readonly parse: Db;
  readonly pocketBase: PocketBase | undefined;
}

/** Inserts this many documents into a collection that a contender will delete from. Returns their ids. */
const idsFor = async (
  { database, parse, pocketBase }: Databases,
  name: Name,
  collection: string,
  { add, most: count }: { readonly add: number; readonly most: number },
): Promise<readonly string[]> => {
  if (name === 'pocketbase') {
    if (!pocketBase) return [];
    if (add > 0) fillPocketBase(pocketBase, collection, add);
    return pocketBaseIdsOf(pocketBase, collection, count);
  }
  if (name === 'parse') {
    const documents = parse.collection<{ _id: string }>(collection);
    if (add > 0) await fillPeer(documents, add);
    return peerIdsOf(documents, count);
  }
  const documents = database.collection(collection);
  if (add > 0)
    await fill(
      documents,
      add,
      () => undefined,
      () => stampsOf(name),
    );
  return idsOf(documents, count);
};

type Requests = Readonly<Partial<Record<DocumentRow, DocumentOperation['request']>>>;

const theirs: Readonly<Record<Peer, Requests>> = { parse: parseDocuments, pocketbase: pocketBaseDocuments };

const requestOf = (row: DocumentRow, name: Name, collection: string, ids: readonly string[]): LoadRequest => {
  const usual = operations[row].request(collection, ids);
  const own = isPeer(name) ? theirs[name][row]?.(collection, ids) : undefined;
  return own ? { ...own, ...(usual.connections && { connections: usual.connections }) } : usual;
};

/** Document operations of each contender. */
export const documentOperations = (databases: Databases): Operation[] =>
  Object.entries<DocumentOperation>(operations).map(([key, operation]) => {
    const row = key as DocumentRow;
    const shrinks = operation.changesSize === 'shrinks';
    return {
      ...operation,
      aim: { ...operation.aim, parse: 1.3 },
      peers: peers.filter((peer) => row in theirs[peer]),
      usesUp: shrinks,
      ...(gists[row] && { gist: gists[row] }),
      prepare: async (name, target, seconds) => {
        const collection = collectionOf(operation, name);
        const amount = shrinks
          ? { add: Math.ceil(deletionsPerSecond * seconds), most: Number.MAX_SAFE_INTEGER }
          : { add: 0, most };
        const ids = (await operation.idsOf?.(target)) ?? (await idsFor(databases, name, collection, amount));
        const request = requestOf(row, name, collection, ids);
        return shrinks ? { ...request, distinct: ids.length } : request;
      },
    };
  });
