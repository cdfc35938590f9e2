import type { Collection } from '../../collections/collection.ts';
import { AppError, type FieldError, validationFailed } from '../../core/errors.ts';
import { newId } from '../../core/new-id.ts';
import type { Caller } from '../../projects/project.ts';
import { insertedAt } from '../changes/stamp.ts';
import { fieldsOf } from '../collection-fields.ts';
import type { Document, JsonObject } from '../document.ts';
import { revisionField } from '../revision.ts';
import { requireFit, sizeOf } from './document-size.ts';
import { sanitizeInsert } from './sanitize.ts';
import { convertFields } from './schema-values.ts';

/** A document ready to be inserted, and its size. */
export interface NewDocument {
  readonly document: Document;
  /** Size in bytes of BSON. */
  readonly size: number;
}

/** The user who must own what the caller inserts; `undefined` for a secret key, which may name anyone or nobody. */
const ownerOf = (collection: Collection, caller: Caller): string | undefined =>
  caller.kind === 'publishable' && collection.rls.enabled ? caller.userId : undefined;

/**
 * Makes a body into the document to insert: sanitized, owned, validated, with system fields dated `now` (ms). 400
 * `INVALID_BODY`, 400 `VALIDATION_FAILED`, 403 `NOT_OWNER` where a publishable key names another owner, 413.
 */
export const newDocument = (collection: Collection, caller: Caller, body: JsonObject, now: number): NewDocument => {
  const sent = sanitizeInsert(body);
  const { ownerField } = collection.rls;
  const owner = ownerOf(collection, caller);
  const owned = owner === undefined ? sent : { ...sent, [ownerField]: owner };
  const errors: FieldError[] = [];
  const values = convertFields(fieldsOf(collection), owned, '', errors);
  if (errors.length > 0) throw validationFailed(...errors);
  if (owner !== undefined && Object.hasOwn(sent, ownerField) && sent[ownerField] !== owner) {
    const message = `You can only insert documents of your own: leave "${ownerField}" out.`;
    throw new AppError('NOT_OWNER', message, { errors: [{ field: ownerField, message }] });
  }
  const date = new Date(now);
  const document = {
    _id: newId(),
    ...values,
    isDeleted: false,
    deletedAt: null,
    createdAt: date,
    updatedAt: date,
    [revisionField]: 1,
    ...insertedAt(collection),
  };
  const size = sizeOf(document);
  requireFit(document, size);
  return { document, size };
};
