import {
  type AbstractCursor,
  BSON,
  type Db,
  type Document,
  type Filter,
  type FindOptions,
  type Document as MongoDocument,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
} from 'mongodb';
import { isOutage } from './mongo-errors.ts';

/**
 * For the driver's option `fieldsAsRaw`: none. Its own `{}` has `toString` and the like from `Object`, so that objects
 * in lists of fields of such names would come as bytes.
 */
export const noFieldsAsRaw: MongoDocument = Object.create(null);

/** The BSON of a document asked for with `raw: true`, which the driver's types do not say; anything else throws. */
export const rawDocument = (given: unknown): Uint8Array => {
  if (given instanceof Uint8Array) return given;
  throw new TypeError('A document was read without raw: true');
};

/** The documents of a cursor with `raw: true` as they are fetched; it is closed wherever the reading ends. */
export async function* rawBatches(
  cursor: Pick<AbstractCursor<unknown>, 'hasNext' | 'readBufferedDocuments' | 'close'>,
): AsyncGenerator<readonly Uint8Array[]> {
  try {
    while (await cursor.hasNext()) yield cursor.readBufferedDocuments().map(rawDocument);
  } finally {
    await cursor.close();
  }
}

/** What a raw document holds. The database has checked its UTF-8. */
export const deserialize = (raw: Uint8Array): MongoDocument => BSON.deserialize(raw, { validation: { utf8: false } });

const { parseToElements, ByteUtils, NumberUtils } = BSON.onDemand;

/** How long the database may take for a read. */
export const maxTimeMS = 5000;

type Options = 'sort' | 'projection' | 'hint' | 'skip' | 'readConcern' | 'readPreference';
type Find = Pick<FindOptions, Options> & { readonly limit: number; readonly maxTimeMS: number };

/** What a cursor is made of in an answer: the documents it begins with, and its id, which is 0 where no more follow. */
const parseCursor = (bytes: Uint8Array): { readonly documents: readonly Uint8Array[]; readonly id: bigint } => {
  let documents: readonly Uint8Array[] = [];
  let id = 0n;
  for (const [, nameAt, nameLength, at] of parseToElements(bytes)) {
    const name = ByteUtils.toUTF8(bytes, nameAt, nameAt + nameLength, false);
    if (name === 'id') id = NumberUtils.getBigInt64LE(bytes, at);
    if (name === 'firstBatch') {
      documents = Array.from(parseToElements(bytes, at), ([, , , from, length]) => bytes.subarray(from, from + length));
    }
  }
  return { documents, id };
};

/** What the driver would try once more if it knew that the command only reads; but after a silence its time is over. */
const isWorthRepeating = (error: unknown): boolean =>
  (error instanceof MongoNetworkError && !(error instanceof MongoNetworkTimeoutError)) ||
  (error instanceof MongoServerError && isOutage(error));

/**
 * Everything that a `find` gives, by the driver's plainest command, which takes half the CPU of a cursor. `undefined`
 * where that is too much for one answer, or the command failed in a way that passes: a cursor is to be tried then.
 */
const firstBatch = async (
  db: Db,
  name: string,
  filter: Filter<Document>,
  { readConcern = db.readConcern, readPreference = db.readPreference, ...find }: Find & { readonly singleBatch?: true },
): Promise<readonly Uint8Array[] | undefined> => {
  const command = {
    find: name,
    filter,
    ...find,
    // With no more than the limit, a cursor would be left open.
    batchSize: find.limit + 1,
    ...(readConcern && { readConcern }),
  };
  try {
    const answer = await db.command(command, {
      raw: true,
      ignoreUndefined: true,
      ...(readPreference && { readPreference }),
    });
    const { documents, id } = parseCursor(rawDocument(answer.cursor));
    if (id === 0n) return documents;
    await db.command({ killCursors: name, cursors: [id] });
  } catch (error) {
    if (!isWorthRepeating(error)) throw error;
  }
  return undefined;
};

/** The first document that matches, as its bytes. */
export const findFirstRaw = async (
  db: Db,
  name: string,
  filter: Filter<Document>,
  options: Omit<Find, 'limit' | 'maxTimeMS'> = {},
): Promise<Uint8Array | undefined> => {
  const batch = await firstBatch(db, name, filter, { ...options, limit: 1, maxTimeMS, singleBatch: true });
  if (batch) return batch[0];
  const found = await db.collection(name).findOne(filter, { ...options, maxTimeMS, raw: true });
  return found ? rawDocument(found) : undefined;
};

/** The documents that match, as their bytes, in batches of at most 16 MB; in `maxTimeMS` at most. */
export async function* findRaw(
  db: Db,
  name: string,
  filter: Filter<Document>,
  find: Find,
): AsyncGenerator<readonly Uint8Array[]> {
  const batch = await firstBatch(db, name, filter, find);
  if (batch) yield batch;
  else yield* rawBatches(db.collection(name).find(filter, { ...find, batchSize: find.limit, raw: true }));
}
