import type { Document as MongoDocument } from 'mongodb';
import type { JsonObject } from '../document.ts';

/**
 * An update that sets fields whose names have no dots where `may` holds, an expression, and leaves the document as it
 * is where not. `_id` alone can so find the document and the update still decides: conditions beside `_id` in the
 * filter cost MongoDB as much again as the write, as they leave its fast path.
 */
export const mergingWhere = (may: MongoDocument, fields: JsonObject): MongoDocument[] => [
  { $replaceWith: { $mergeObjects: ['$$ROOT', { $cond: [may, { $literal: fields }, null] }] } },
];
