import { type AbstractCursor, BSON, type Document as MongoDocument } from 'mongodb';

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
