import type { Document as MongoDocument } from 'mongodb';
import type { JsonObject } from '../document.ts';
import { nextRevision, revisionField } from '../revision.ts';

/**
 * An update that sets fields whose names have no dots where `may` holds, an expression, and leaves the document as it
 * is where not; what is written counts as a revision. `_id` alone can so find the document and the update still decides: conditions beside `_id` in the
 * filter cost MongoDB as much again as the write, as they leave its fast path.
 */
export const mergingWhere = (may: MongoDocument, fields: JsonObject): MongoDocument[] => {
  const merged = { $mergeObjects: [{ $literal: fields }, { [revisionField]: nextRevision }] };
  return [{ $replaceWith: { $mergeObjects: ['$$ROOT', { $cond: [may, merged, null] }] } }];
};
