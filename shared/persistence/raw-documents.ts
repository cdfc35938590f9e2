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
 * For the driver's option `fieldsAsRaw`. Its default `{}` inherits `toString`, so that objects in fields of such names
 * would be returned as bytes.
 */
export const noFieldsAsRaw: MongoDocument = Object.create(null);

/** The BSON of a document that was read with `raw: true`, which the driver's types do not express. */
export const rawDocument = (given: unknown): Uint8Array => {
  if (given instanceof Uint8Array) return given;
  throw new TypeError('A document was read without raw: true');
};

/** Batches of a cursor with `raw: true`, which is closed at the end. */
export async function* rawBatches(
  cursor: Pick<AbstractCursor<unknown>, 'hasNext' | 'readBufferedDocuments' | 'close'>,
): AsyncGenerator<readonly Uint8Array[]> {
  try {
    while (await cursor.hasNext()) yield cursor.readBufferedDocuments().map(rawDocument);
  } finally {
    await cursor.close();
  }
}

/** The database has checked the UTF-8. */
export const deserialize = (raw: Uint8Array): MongoDocument => BSON.deserialize(raw, { validation: { utf8: false } });

const { parseToElements, ByteUtils, NumberUtils } = BSON.onDemand;

export const maxTimeMS = 5000;

/**
 * For reads of the changes feed. Only the primary has every acknowledged write. A write without a majority may be
 * rolled back, and its revision and position then belong to another change.
 */
export const settled = { readPreference: 'primary', readConcern: { level: 'majority' } } as const;

type Options = 'sort' | 'projection' | 'hint' | 'skip' | 'readConcern' | 'readPreference';
type Find = Pick<FindOptions, Options> & { readonly limit: number; readonly maxTimeMS: number };

/** The first batch of a cursor and its id, which is 0 if no documents follow. */
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

/** Errors that the driver would retry if it knew that the command only reads. After a timeout there is no time left. */
const isWorthRepeating = (error: unknown): boolean =>
  (error instanceof MongoNetworkError && !(error instanceof MongoNetworkTimeoutError)) ||
  (error instanceof MongoServerError && isOutage(error));

/**
 * All results of a `find`, by a plain command, which takes half the CPU of a cursor. `undefined` if they do not fit
 * into one response, or after a temporary error: then use a cursor.
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
    // With `batchSize` equal to the limit, a cursor would stay open.
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

/** Batches of at most 16 MB, within `maxTimeMS`. */
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
