import {
  type BulkWriteOptions,
  type Collection,
  type Db,
  type Document,
  type Filter,
  type FindOneAndUpdateOptions,
  type FindOptions,
  type MongoClient,
  MongoServerError,
  type OptionalUnlessRequiredId,
  type UpdateFilter,
  type UpdateOptions,
  type WithId,
} from 'mongodb';
import { responseTooLarge } from '../core/json.ts';
import type { Page, PageRequest } from '../core/values.ts';
import { deserialize, findFirstRaw, findRaw, maxTimeMS } from './raw-documents.ts';

/** Where a project's documents are. Its users are always in our cluster. */
export type Placement = (
  | { readonly kind: 'managed'; readonly cell: string }
  | {
      readonly kind: 'external';
      readonly host: string;
      /** The stored URI, which differs for each connection that was made. */
      readonly encryptedUri: string;
      readonly openUri: () => Promise<string>;
    }
) & {
  /** When the project moved there. */
  readonly since?: Date;
};

/** What is needed to reach a project's documents. */
export interface Placed {
  /** Hexadecimal id of the project. */
  readonly id: string;
  readonly placement: Placement;
}

type Run<R extends Document> = <T>(operation: (records: Collection<R>, db: Db) => Promise<T>) => Promise<T>;

type Update<R extends Document> = UpdateFilter<R> | Document[];

type One = Pick<FindOptions, 'sort' | 'projection'>;
type Many = Pick<FindOptions, 'sort' | 'projection' | 'skip' | 'limit'> & {
  /** With a `limit`: more bytes of BSON throw 400 `RESULT_TOO_LARGE` before all are read. */
  readonly maxBytes?: number;
};

const findFirst = async <T>(db: Db, name: string, filter: Filter<Document>, options?: One): Promise<T | null> => {
  const raw = await findFirstRaw(db, name, filter, options);
  return raw ? (deserialize(raw) as T) : null;
};

/** The limit allows one response without a cursor. */
const findUpTo = async <T>(
  db: Db,
  name: string,
  filter: Filter<Document>,
  limit: number,
  { maxBytes = Number.POSITIVE_INFINITY, ...options }: Many,
): Promise<T[]> => {
  const found: T[] = [];
  let bytes = 0;
  for await (const batch of findRaw(db, name, filter, { ...options, limit, maxTimeMS })) {
    for (const record of batch) {
      bytes += record.length;
      if (bytes > maxBytes) throw responseTooLarge();
      found.push(deserialize(record) as T);
    }
  }
  return found;
};

/**
 * The commands of a collection; `on` runs any other. `findOne`, and `find` with a limit, need no cursor, which saves
 * half of the CPU.
 */
export const recordsOf = <R extends Document>(on: Run<R>) => ({
  on,
  find: <T extends Document = WithId<R>>(filter: Filter<R>, options: Many = {}): Promise<T[]> =>
    on((records, db) =>
      options.limit === undefined
        ? records.find<T>(filter, { maxTimeMS, ...options }).toArray()
        : findUpTo<T>(db, records.collectionName, filter as Filter<Document>, options.limit, options),
    ),
  findOne: <T extends Document = WithId<R>>(filter: Filter<R>, options?: One): Promise<T | null> =>
    on((records, db) => findFirst<T>(db, records.collectionName, filter as Filter<Document>, options)),
  aggregate: <T extends Document>(stages: Document[]): Promise<T[]> =>
    on((records) => records.aggregate<T>(stages, { maxTimeMS }).toArray()),
  countDocuments: (filter: Filter<R>) => on((records) => records.countDocuments(filter, { maxTimeMS })),
  insertOne: (record: OptionalUnlessRequiredId<R>) => on((records) => records.insertOne(record)),
  insertMany: (all: readonly OptionalUnlessRequiredId<R>[]) => on((records) => records.insertMany(all)),
  updateOne: (filter: Filter<R>, update: Update<R>, options?: UpdateOptions) =>
    on((records) => records.updateOne(filter, update, options)),
  updateMany: (filter: Filter<R>, update: Update<R>) => on((records) => records.updateMany(filter, update)),
  findOneAndUpdate: (filter: Filter<R>, update: Update<R>, options: FindOneAndUpdateOptions = {}) =>
    on((records) => records.findOneAndUpdate(filter, update, options)),
  deleteOne: (filter: Filter<R>) => on((records) => records.deleteOne(filter)),
  deleteMany: (filter: Filter<R>) => on((records) => records.deleteMany(filter)),
  bulkWrite: (writes: Parameters<Collection<R>['bulkWrite']>[0], options?: BulkWriteOptions) =>
    on((records) => records.bulkWrite(writes, options)),
});

export type Records<R extends Document> = ReturnType<typeof recordsOf<R>>;

/** An upper bound for the records of a response; a function has memory for them and their JSON. */
const maxBytes = 16 * 1024 * 1024;

/**
 * A page of matching records and their total. A page that is not full needs no count. A page larger than a response
 * throws 400 `RESULT_TOO_LARGE`.
 */
export const findPage = async <R extends Document, T>(
  records: Records<R>,
  filter: Filter<R>,
  { page, limit }: PageRequest,
  order: Pick<FindOptions, 'sort' | 'projection'>,
  show: (record: R) => T | Promise<T>,
  count = () => records.countDocuments(filter),
): Promise<Page<T>> => {
  const skip = (page - 1) * limit;
  const found = await records.find<R>(filter, { ...order, skip, limit, maxBytes });
  const isLast = found.length < limit && (found.length > 0 || page === 1);
  const total = isLast ? skip + found.length : await count();
  return { items: await Promise.all(found.map(show)), total, page, limit };
};

/** A standalone server has no transactions, nor may a server that only speaks MongoDB's protocol. */
const known = new WeakMap<MongoClient, boolean>();

/** Asks the server one time per client. */
export const hasTransactions = async (db: Db): Promise<boolean> => {
  const asked = known.get(db.client);
  if (asked !== undefined) return asked;
  const { setName, msg, logicalSessionTimeoutMinutes } = await db.command({ hello: 1 });
  const isDistributed = typeof setName === 'string' || msg === 'isdbgrid';
  const answer = isDistributed && typeof logicalSessionTimeoutMinutes === 'number';
  known.set(db.client, answer);
  return answer;
};

/** Illegal operation, unsupported command, not in a transaction: the server has no transactions after all. */
const refusals = new Set<unknown>([20, 115, 263]);

/** True for the error of a server that has no transactions, which is then remembered. */
export const isWithoutTransactions = (db: Db, error: unknown): boolean => {
  // The driver replaces the error of a standalone server by its own.
  const original: unknown = error instanceof MongoServerError ? (error.originalError ?? error) : error;
  const isRefusal = original instanceof MongoServerError && refusals.has(original.code);
  if (isRefusal) known.set(db.client, false);
  return isRefusal;
};
