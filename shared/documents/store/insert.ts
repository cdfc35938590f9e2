import { type Db, type Collection as Documents, MongoBulkWriteError, type ObjectId } from 'mongodb';
import { type Collection, ownerFieldOf } from '../../collections/collection.ts';
import { countEffectWrites, effectFields } from '../../collections/effects/effect.ts';
import { fieldsOf, unknownFields } from '../../collections/schema/field-path.ts';
import { checksReferences } from '../../collections/schema/references.ts';
import { isGone } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import {
  AppError,
  type ErrorDetail,
  type FieldError,
  isClientError,
  maxErrors,
  validationFailed,
} from '../../core/errors.ts';
import { earlierIds, newId } from '../../core/ids.ts';
import { onDuplicateKey } from '../../core/retry.ts';
import { outcomeUnknown } from '../../persistence/idempotency.ts';
import { onProject } from '../../persistence/mongo.ts';
import { mongoFailure, unavailable } from '../../persistence/mongo-errors.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { allOrNone } from '../../persistence/records.ts';
import { requireDatabaseRoom } from '../../projects/database-quota.ts';
import type { Caller } from '../../projects/project.ts';
import { type AccessContext, requireWriteAccess, tokenMissing } from '../access/access.ts';
import {
  hasProtected,
  hasUnreadable,
  requireBulkRights,
  requireInsertRights,
  unreadableFor,
  withoutUnreadable,
} from '../access/field-rights.ts';
import { mayGet, obeysRules, requireCreate, requireCreateAccess } from '../access/rule-access.ts';
import { type Document, type JsonObject, revisionField, revisionOf, withoutHidden } from '../document.ts';
import { pendingMails } from '../effects/pending-mails.ts';
import { type Computed, computeFields, runsEffects } from '../effects/set-fields.ts';
import { wakeForMails } from '../effects/wake.ts';
import type { Condition } from '../query/condition.ts';
import { convertFields } from '../values.ts';
import { countWrites, currentScope, noteCause, noteWrite } from './joint-scope.ts';
import { publishChange } from './publish.ts';
import { requireEachReference, requireReferences } from './references.ts';
import { insertedAt, storedForm } from './stamps.ts';
import { reuseId, writeTombstones } from './tombstones.ts';
import { countingClashes } from './unique-clashes.ts';
import { requireFit, sanitizeInsert, sizeOf } from './validate.ts';
import { shownToWriter, type WrittenDocument } from './written.ts';

/** A document ready to be inserted, and its size. */
export interface NewDocument {
  readonly document: Document;
  /** Size in bytes of BSON. */
  readonly size: number;
}

/** The user who must own what the caller inserts; `undefined` for a secret key, which may name anyone or nobody. */
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
const withEffects = async (
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

/** What an earlier run of this request stored before it ended without a response. Its documents have the same ids. */
interface StoredEarlier {
  /** The ids of all documents of the request, in order. */
  readonly ids: readonly ObjectId[];
  readonly documents: readonly Document[];
}

/**
 * Throws 409 `IDEMPOTENCY_OUTCOME_UNKNOWN` if an earlier run stored documents without a transaction: whether it ran
 * their effects is not known.
 */
const requireComplete = ({ collection }: AccessContext, { documents }: StoredEarlier): void => {
  const isAtomic = currentScope.getStore()?.isAtomic !== false;
  if (documents.length > 0 && !isAtomic && countEffectWrites(collection, 'create') > 0) throw outcomeUnknown();
};

/**
 * What an earlier run stored of its first `count` documents; `undefined` if there was none. Throws 409
 * `IDEMPOTENCY_OUTCOME_UNKNOWN` if one was replaced by a tombstone, because it cannot come back.
 */
export const storedEarlier = async (context: AccessContext, count: number): Promise<StoredEarlier | undefined> => {
  const { project, collection } = context;
  const ids = earlierIds(count);
  if (!ids) return undefined;
  const documents = await onProject(project, (db) =>
    db
      .collection<Document>(collection.name)
      .find({ _id: { $in: [...ids] } }, { maxTimeMS })
      .toArray(),
  );
  if (documents.some((document) => isGone(collection, document))) throw outcomeUnknown();
  requireComplete(context, { ids, documents });
  return { ids, documents };
};

/** True for a clash with an earlier run that is storing right now: nobody else has the id. */
const isWithEarlier = ({ errors = [] }: AppError): boolean => errors[0]?.field === '_id' && earlierIds(1) !== undefined;

/** Turns a clash with an earlier run into 503: the next retry finds what that run stored. */
export const throwUnlessRetried = (clash: AppError): never => {
  throw isWithEarlier(clash) ? unavailable(clash) : clash;
};

/** Throws if the caller can insert nothing: 401, 403 `RLS_REQUIRED`, `RULE_DENIED`, `MFA_REQUIRED`. */
export const requireInsertAccess = async (context: AccessContext): Promise<void> => {
  if (obeysRules(context)) await requireCreateAccess(context);
  else requireWriteAccess(context);
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
  const [{ body: whole, mails } = { body }] = await withEffects(context, [{ body, _id, owner }]);
  return withMails(context, newDocument(collection, caller, whole, clock.now(), _id, owner), mails);
};

export interface InsertOptions {
  readonly _id?: ObjectId;
  /** The user who becomes the owner instead of the caller's. */
  readonly owner?: string | undefined;
  /** The document, if it was made of the body before. */
  readonly made?: NewDocument | undefined;
  /** The rules to check; `create` by default. */
  readonly rules?: readonly ('create' | 'after')[];
}

/** Notes inserts of a joint run, so that they can be undone. After an outage they may have happened. */
const notingInserts = async <T>(
  context: AccessContext,
  documents: () => readonly Document[],
  insert: () => Promise<T>,
): Promise<T> => {
  const note = () => {
    for (const document of documents()) noteWrite({ context, kind: 'insert', _id: document._id, document });
  };
  try {
    const result = await insert();
    note();
    return result;
  } catch (error) {
    if (!isClientError(error)) note();
    throw error;
  }
};

/** What the caller sees of a document that they inserted: only its id if they may not read it. */
export const shownInserted = async (context: AccessContext, document: Document): Promise<WrittenDocument> => {
  if (obeysRules(context) && !(await mayGet(context, document))) return { document: { _id: document._id } };
  const unreadable = hasUnreadable(context) ? await unreadableFor(context) : undefined;
  const shown = withoutHidden(document);
  return {
    document: unreadable ? withoutUnreadable(unreadable, shown, document) : shown,
    revision: revisionOf(document),
  };
};

/** Validates a body, inserts it and returns the document. `onClash` throws for a taken value or id. */
export const insertUnder = async (
  context: AccessContext,
  body: JsonObject,
  onClash: (clash: AppError) => Promise<never> | never,
  { _id, owner, made: earlierMade, rules }: InsertOptions = {},
): Promise<WrittenDocument> => {
  const { project, collection } = context;
  const byRules = obeysRules(context);
  const made = earlierMade ?? (await madeOf(context, body, _id, owner));
  const { size } = made;
  let { document } = made;
  if (hasProtected(context)) await requireInsertRights(context, body, document);
  if (byRules) await requireCreate(context, document, rules);
  if (checksReferences(collection)) await requireReferences(context, document);
  await requireDatabaseRoom(project, size);
  countWrites();
  const inserted = () =>
    onProject(project, (db) => db.collection(collection.name).insertOne(storedForm(project, made)));
  const insert = () =>
    onDuplicateKey(inserted(), async (clash) => {
      const free = _id && clash.errors?.[0]?.field === '_id' ? await reuseId(context, document) : undefined;
      if (!free) return onClash(clash);
      document = free;
    });
  await countingClashes(context, () => notingInserts(context, () => [document], insert));
  await publishChange(context, [document]);
  noteCause(context, 'create', [{ document, index: 0 }]);
  await wakeForMails(context, [document]);
  return shownInserted(context, document);
};

/**
 * Inserts one document with one command and returns it as stored. Under row security a publishable key's user
 * becomes its owner. Throws 400 `INVALID_BODY`, `VALIDATION_FAILED`; 401; 403 `RLS_REQUIRED`, `NOT_OWNER`,
 * `DATABASE_QUOTA_EXCEEDED`; 409 `DUPLICATE_VALUE`; 413. A repeat returns what an earlier run stored. Contract 2,
 * "Insert".
 */
export const createDocument = async (context: AccessContext, body: JsonObject): Promise<WrittenDocument> => {
  await requireInsertAccess(context);
  const earlier = await storedEarlier(context, 1);
  if (earlier?.documents[0]) return shownToWriter(context, earlier.documents[0]);
  return insertUnder(context, body, throwUnlessRetried);
};

const maxItems = 100;

/** `data` of the response to a bulk insert. */
interface Inserted {
  readonly insertedCount: number;
  /** 24 hex characters each, in the order of the bodies. */
  readonly ids: readonly string[];
}

/** The errors of an item with its index. An error without a field applies to the whole item. */
export const atIndex = ({ code, errors = [], message }: AppError, index: number): ErrorDetail[] =>
  code === 'EFFECT_REFUSED'
    ? errors.map((error) => ({ ...error, index }))
    : (errors.length > 0 ? errors : [{ field: '', message }]).map((error) => ({ index, field: '', ...error }));

/** Makes every item. The first 100 validation errors are reported together, other errors immediately. */
const eachValid = <Item, Made>(items: readonly Item[], make: (item: Item) => Made): Made[] => {
  const errors: ErrorDetail[] = [];
  let first: string | undefined;
  const made = items.flatMap((item, index) => {
    try {
      return [make(item)];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const message = `${error.message} (item ${index})`;
      if (error.code !== 'VALIDATION_FAILED') {
        throw new AppError(error.code, message, { errors: atIndex(error, index) });
      }
      first ??= message;
      errors.push(...atIndex(error, index));
      return [];
    }
  });
  if (!first) return made;
  const named = errors.slice(0, maxErrors);
  const cut = named.length < errors.length ? `; errors has the first ${maxErrors} of at least ${errors.length}` : '';
  throw new AppError('VALIDATION_FAILED', first + cut, { errors: named });
};

/** Makes every body into a document, with what effects set. */
const newDocuments = async (context: AccessContext, bodies: readonly JsonObject[]): Promise<NewDocument[]> => {
  const { collection, caller } = context;
  const inserting = bodies.map((body) => ({ body, _id: newId() }));
  const prepared: readonly BodyWithEffects[] = runsEffects(context, 'create')
    ? await withEffects(context, inserting)
    : inserting;
  const now = clock.now();
  const given = inserting.map(({ _id }, index) => ({ body: {}, ...prepared[index], _id }));
  return eachValid(given, ({ body, mails, _id }) =>
    withMails(context, newDocument(collection, caller, body, now, _id), mails),
  );
};

/** Throws for the first document that the `create` rule does not allow, with its index. */
const requireEachCreate = async (context: AccessContext, made: readonly NewDocument[]): Promise<void> => {
  const outcomes = await Promise.allSettled(made.map(({ document }) => requireCreate(context, document)));
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') continue;
    if (!(outcome.reason instanceof AppError) || outcome.reason.code !== 'RULE_DENIED') throw outcome.reason;
    const { code, message } = outcome.reason;
    throw new AppError(code, `${message} (item ${index})`, { errors: atIndex(outcome.reason, index) });
  }
};

const insertedOf = (ids: readonly ObjectId[]): Inserted => ({
  insertedCount: ids.length,
  ids: ids.map((id) => id.toHexString()),
});

/** A reader of the changes feed may have seen them. */
export const undo = async (stored: Documents, collection: Collection, chosen: Condition): Promise<void> => {
  if (collection.feed?.on) await writeTombstones(stored, collection, chosen, {});
  else await stored.deleteMany(chosen);
};

/** A transaction leaves nothing behind. Without one, the documents written before a clash are removed again. */
const insertAll = (
  db: Db,
  collection: Collection,
  documents: readonly Document[],
  ids: readonly ObjectId[],
): Promise<void> =>
  allOrNone(db, async (session) => {
    const stored = db.collection(collection.name);
    try {
      await stored.insertMany(documents, { ordered: true, ...(session ? { session } : {}) });
    } catch (error) {
      const failure = mongoFailure(error);
      const clashes = error instanceof MongoBulkWriteError && [error.writeErrors].flat().length > 0;
      // If an earlier run of the same request is storing them, this run must not remove them.
      const isEarlier = failure instanceof AppError && isWithEarlier(failure);
      if (!session && clashes && !isEarlier) await undo(stored, collection, { _id: { $in: [...ids] } });
      throw error;
    }
  });

/** Throws if the caller can insert nothing, or if there are more than 100 bodies. */
export const requireBulkAccess = async (context: AccessContext, bodies: readonly JsonObject[]): Promise<void> => {
  if (!obeysRules(context)) requireWriteAccess(context);
  else if (context.caller.userId === undefined) throw tokenMissing();
  else await requireCreateAccess(context);
  if (bodies.length > 0 && bodies.length <= maxItems) return;
  throw new AppError('INVALID_BODY', `Send an array of 1 to ${maxItems} documents; this one has ${bodies.length}.`);
};

/**
 * Inserts 1 to 100 documents with one command, all or none. Throws 400 with `errors: [{index, field, message}]` for
 * failed validation, 409 with the index of a document whose unique value is taken, otherwise the errors of
 * `createDocument`. Contract 2, "Bulk".
 */
export const createDocuments = async (context: AccessContext, bodies: readonly JsonObject[]): Promise<Inserted> => {
  const { project, collection } = context;
  const byRules = obeysRules(context);
  await requireBulkAccess(context, bodies);
  const earlier = await storedEarlier(context, bodies.length);
  if (earlier?.documents.length === bodies.length) return insertedOf(earlier.ids);
  const made = await newDocuments(context, bodies);
  await requireBulkRights(
    context,
    bodies,
    made.map(({ document }) => document),
  );
  if (byRules) await requireEachCreate(context, made);
  await requireEachReference(
    context,
    made.map(({ document }) => document),
  );
  await requireDatabaseRoom(
    project,
    made.reduce((bytes, { size }) => bytes + size, 0),
  );
  const ids = made.map(({ document }) => document._id);
  const there = new Set(earlier?.documents.map(({ _id }) => _id.toHexString()));
  const missing = made.map((each) => storedForm(project, each)).filter(({ _id }) => !there.has(_id.toHexString()));
  countWrites(missing.length);
  const insert = () =>
    onDuplicateKey(
      onProject(project, (db) => insertAll(db, collection, missing, ids)),
      throwUnlessRetried,
    );
  const inserted = () => missing;
  await countingClashes(context, () => notingInserts(context, inserted, insert));
  await publishChange(context, missing);
  noteCause(
    context,
    'create',
    made.map(({ document }, index) => ({ document, index })),
  );
  await wakeForMails(context, missing);
  return insertedOf(ids);
};
