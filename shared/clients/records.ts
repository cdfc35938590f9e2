import type {
  BulkWriteOptions,
  Collection,
  Db,
  Document,
  Filter,
  FindOneAndUpdateOptions,
  FindOptions,
  OptionalUnlessRequiredId,
  UpdateFilter,
  UpdateOptions,
  WithId,
} from 'mongodb';
import { answerTooLarge } from '../core/answer-size.ts';
import { findFirstRaw, findRaw, maxTimeMS } from './find-raw.ts';
import { deserialize } from './raw-documents.ts';

/** Runs an operation on one collection, which it is given with its database. */
type Run<R extends Document> = <T>(operation: (records: Collection<R>, db: Db) => Promise<T>) => Promise<T>;

type Update<R extends Document> = UpdateFilter<R> | Document[];

type One = Pick<FindOptions, 'sort' | 'projection'>;
type Many = Pick<FindOptions, 'sort' | 'projection' | 'skip' | 'limit'> & {
  /** More than so many bytes of BSON → 400 `RESULT_TOO_LARGE`, before they are all read; of reads with a `limit`. */
  readonly maxBytes?: number;
};

const findFirst = async <T>(db: Db, name: string, filter: Filter<Document>, options?: One): Promise<T | null> => {
  const raw = await findFirstRaw(db, name, filter, options);
  return raw ? (deserialize(raw) as T) : null;
};

/** How many there may be at most is known, so that they can come as one answer, without a cursor. */
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
      if (bytes > maxBytes) throw answerTooLarge();
      found.push(deserialize(record) as T);
    }
  }
  return found;
};

/**
 * The commands of one collection, each one operation of `on`, which is for all that is not among them. What is found,
 * one or up to a limit, is read without the driver's cursor, which takes half of the CPU.
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

/** A collection of records, by its commands. */
export type Records<R extends Document> = ReturnType<typeof recordsOf<R>>;
