import type { ObjectId } from 'mongodb';
import { type Collection, ownerFieldOf } from '../../collections/collection.ts';
import { effectFields } from '../../collections/effects/effect.ts';
import { fieldsOf, unknownFields } from '../../collections/schema/field-path.ts';
import { clock } from '../../core/clock.ts';
import { AppError, type FieldError, validationFailed } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Caller } from '../../projects/project.ts';
import type { AccessContext } from '../access/access.ts';
import { requireBulkRights, requireInsertRights } from '../access/field-rights.ts';
import { type Document, type JsonObject, revisionField, revisionOf } from '../document.ts';
import { pendingMails } from '../effects/pending-mails.ts';
import { type Computed, computeFields, runsEffects } from '../effects/set-fields.ts';
import { convertFields } from '../values.ts';
import { eachValid } from './item-errors.ts';
import { insertedAt } from './stamps.ts';
import { requireFit, sanitizeInsert, sizeOf } from './validate.ts';

/** A document ready to be inserted, and its size. */
export interface NewDocument {
  readonly document: Document;
  /** Size in bytes of BSON. */
  readonly size: number;
}

/** The user who must own what the caller inserts; `undefined` for a secret key, which may name any owner or none. */
const insertingOwner = (collection: Collection, caller: Caller): string | undefined =>
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
const documentForEffects = (
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
const withComputed = (body: JsonObject, values: Computed['values'] = new Map()): JsonObject => {
  if (values.size === 0) return body;
  const kept = Object.entries(body).filter(([key]) => !values.has(key));
  return Object.fromEntries([...kept, ...[...values].filter(([, value]) => value !== undefined)]);
};

/** A new document with the emails of effects that are pending when it is stored. */
const withMails = (context: AccessContext, made: NewDocument, mails: Computed['mails'] = []): NewDocument => {
  const pending = pendingMails(context, mails, made.document, revisionOf(made.document));
  if (pending.length === 0) return made;
  const document = { ...made.document, _effects: { mails: pending } };
  return { document, size: sizeOf(document) };
};

/** A body and the id of its document. */
interface Inserting {
  readonly body: JsonObject;
  readonly _id: ObjectId;
  readonly owner?: string | undefined;
}

/** A body with what effects set, and the effects that send an email. */
interface BodyWithEffects {
  readonly body: JsonObject;
  readonly mails?: Computed['mails'] | undefined;
}

/** The bodies of an insert with what effects do. Throws 403 `FIELD_PROTECTED` if a body names a field of an effect. */
const bodiesWithEffects = async (
  context: AccessContext,
  inserting: readonly Inserting[],
): Promise<readonly BodyWithEffects[]> => {
  const { collection, caller } = context;
  const now = clock.now();
  const make = ({ body, _id, owner }: Inserting) => documentForEffects(collection, caller, body, now, _id, owner);
  const documents = inserting.length === 1 ? inserting.map(make) : eachValid(inserting, make);
  const fields = effectFields(collection);
  const protectedIn = (body: JsonObject) => Object.fromEntries(Object.entries(body).filter(([key]) => fields.has(key)));
  const bodies = inserting.map(({ body }) => protectedIn(body));
  if (inserting.length === 1) await requireInsertRights(context, bodies[0] ?? {}, {});
  else await requireBulkRights(context, bodies, bodies);
  const computed = await computeFields(
    context,
    'create',
    documents.map((document) => ({ document })),
  );
  return inserting.map(({ body }, index) => ({
    body: withComputed(body, computed[index]?.values),
    mails: computed[index]?.mails,
  }));
};

/** Makes a body into the document to insert, with what effects do. Without `owner`, the caller's user owns it. */
export const madeOf = async (
  context: AccessContext,
  body: JsonObject,
  _id = newId(),
  owner?: string,
): Promise<NewDocument> => {
  const { collection, caller } = context;
  if (!runsEffects(context, 'create')) return newDocument(collection, caller, body, clock.now(), _id, owner);
  const [{ body: whole, mails } = { body }] = await bodiesWithEffects(context, [{ body, _id, owner }]);
  return withMails(context, newDocument(collection, caller, whole, clock.now(), _id, owner), mails);
};

/** Makes every body into a document, with what effects set. */
export const newDocuments = async (context: AccessContext, bodies: readonly JsonObject[]): Promise<NewDocument[]> => {
  const { collection, caller } = context;
  const inserting = bodies.map((body) => ({ body, _id: newId() }));
  const prepared: readonly BodyWithEffects[] = runsEffects(context, 'create')
    ? await bodiesWithEffects(context, inserting)
    : inserting;
  const now = clock.now();
  const given = inserting.map(({ _id }, index) => ({ body: {}, ...prepared[index], _id }));
  return eachValid(given, ({ body, mails, _id }) =>
    withMails(context, newDocument(collection, caller, body, now, _id), mails),
  );
};
