import { BSON, type Filter, type Document as MongoDocument } from 'mongodb';
import { AppError } from '../errors.ts';
import type { Document, JsonObject } from './document.ts';

/** How large a document may grow, in bytes of BSON (contract 2, "Insert"). */
export const maxDocumentBytes = 4 * 1024 * 1024;

/** The refusal of a document that is or would become too large (413). */
export const documentTooLarge = (): AppError =>
  new AppError('DOCUMENT_TOO_LARGE', 'The document would be larger than 4 MiB. Split it into several documents.');

/** Size of a JSON object in bytes of BSON. */
export const sizeOf = (object: JsonObject): number => BSON.calculateObjectSize(object);

/** What a stored document must match to have room for `bytes` more. */
export const hasRoomFor = (bytes: number): Filter<MongoDocument> => ({
  $expr: { $lte: [{ $bsonSize: '$$ROOT' }, maxDocumentBytes - bytes] },
});

/** Whether a document that was fetched lacks room for `bytes` more: `hasRoomFor`, decided in code. */
export const lacksRoomFor = (document: Document, bytes: number): boolean => sizeOf(document) + bytes > maxDocumentBytes;
