import type { ObjectId } from 'mongodb';
import { cutText } from '../core/bounded-text.ts';
import { AppError } from '../core/errors.ts';
import { idOf } from '../core/id-of.ts';

/** A JSON object as the body parser hands it over: plain values only, nesting at most 64 levels. */
export type JsonObject = { readonly [key: string]: unknown };

/** A document on its way out; `JSON.stringify` gives its wire form (24 hex characters, ISO dates). */
export type Document = { readonly _id: ObjectId; readonly [key: string]: unknown };

/** A document id from a path. Malformed → 400 `INVALID_ID`. */
export const documentId = (id: string): ObjectId => {
  const read = idOf(id);
  if (read) return read;
  throw new AppError('INVALID_ID', `"${cutText(id, 40)}" is not a document id: it must be 24 hexadecimal characters.`);
};

/** The refusal of a document that is missing, trashed, or hidden from the caller. */
export const documentNotFound = (): AppError => new AppError('DOCUMENT_NOT_FOUND', 'Document not found');
