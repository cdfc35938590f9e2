import type { ObjectId } from 'mongodb';
import { type Collection, ownerFieldOf } from '../../collections/collection.ts';
import { effectFields } from '../../collections/effects/effect.ts';
import { fieldsOf, unknownFields } from '../../collections/schema/field-path.ts';
import { AppError, type FieldError, validationFailed } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Caller } from '../../projects/project.ts';
import type { AccessContext } from '../access/access.ts';
import { type Document, type JsonObject, revisionField, revisionOf } from '../document.ts';
import { pendingMails } from '../effects/pending-mails.ts';
import type { Computed } from '../effects/set-fields.ts';
import { convertFields } from '../values.ts';
import { insertedAt } from './stamps.ts';
import { requireFit, sanitizeInsert, sizeOf } from './validate.ts';

/** A document ready to be inserted, and its size. */
export interface NewDocument {
  readonly document: Document;
  /** Size in bytes of BSON. */
  readonly size: number;
}

/** The user who must own what the caller inserts; `undefined` for a secret key, which may name any owner or none. */
export const insertingOwner = (collection: Collection, caller: Caller): string | undefined =>
  caller.kind === 'publishable' && ownerFieldOf(collection.rls) !== undefined ? caller.userId : undefined;

/** Throws 403 `NOT_OWNER` if the body of a publishable key names another owner. */
export const requireOwn = (
  collection: Collection,
  caller: Caller,
  sent: JsonObject,
  owner = insertingOwner(collection, caller),
): void => {
  const { ownerField } = collection.rls;
  if (owner === undefined || !Object.hasOwn(sent, ownerField) || sent[ownerField] === owner) return;
  const message = `You can only insert documents of your own: leave "${ownerField}" out.`;
  throw new AppError('NOT_OWNER', message, { errors: [{ field: ownerField, message }] });
};

/**
 * Makes a body into the document to insert: sanitized, owned, validated, with system fields dated `now` (ms). Throws
 * 400 `INVALID_BODY` or `VALIDATION_FAILED`, 403 `NOT_OWNER` if a publishable key names another owner, 413.
 */
export const newDocument = (
  collection: Collection,
  caller: Caller,
  body: JsonObject,
  now: number,
  _id = newId(),
  owner = insertingOwner(collection, caller),
): NewDocument => {
  const sent = sanitizeInsert(body);
  const { ownerField } = collection.rls;
  const owned = owner === undefined ? sent : { ...sent, [ownerField]: owner };
  const fields = fieldsOf(collection);
  const errors: FieldError[] = [...unknownFields(collection, fields, sent)];
  const values = convertFields(fields, owned, '', errors);
  if (errors.length > 0) throw validationFailed(...errors);
  requireOwn(collection, caller, sent, owner);
  const date = new Date(now);
  const document = {
    _id,
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

/** A new document as effects see it: with defaults, and without the values that only effects give it. */
export const documentForEffects = (
  collection: Collection,
  caller: Caller,
  body: JsonObject,
  now: number,
  _id: ObjectId,
  owner = insertingOwner(collection, caller),
): Document => {
  const sent = sanitizeInsert(body);
  requireOwn(collection, caller, sent, owner);
  const owned = owner === undefined ? sent : { ...sent, [collection.rls.ownerField]: owner };
  const fields = fieldsOf(collection);
  const given = effectFields(collection, 'create');
  const found: FieldError[] = [...unknownFields(collection, fields, sent)];
  const values = convertFields(fields, owned, '', found);
  const errors = found.filter(({ field }) => !given.has(field.split('.', 1)[0] ?? ''));
  if (errors.length > 0) throw validationFailed(...errors);
  const date = new Date(now);
  return { ...values, _id, createdAt: date, updatedAt: date };
};

/** A body with what effects set. A value that an effect could not find is left out. */
export const withComputed = (body: JsonObject, values: Computed['values'] = new Map()): JsonObject => {
  if (values.size === 0) return body;
  const kept = Object.entries(body).filter(([key]) => !values.has(key));
  return Object.fromEntries([...kept, ...[...values].filter(([, value]) => value !== undefined)]);
};

/** A new document with the emails of effects that are pending when it is stored. */
export const withMails = (context: AccessContext, made: NewDocument, mails: Computed['mails'] = []): NewDocument => {
  const pending = pendingMails(context, mails, made.document, revisionOf(made.document));
  if (pending.length === 0) return made;
  const document = { ...made.document, _effects: { mails: pending } };
  return { document, size: sizeOf(document) };
};
