import type { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { collectionNotFound } from '../../collections/collection-record.ts';
import type { EffectEvent } from '../../collections/effects/effect.ts';
import { isUsersName } from '../../collections/names.ts';
import { isShownIn } from '../../collections/trash-conditions.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { isPlainObject } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import { idempotencyKeyShape } from '../../persistence/idempotency.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { currentTransaction } from '../../persistence/transaction.ts';
import type { AccessContext } from '../access/access.ts';
import { mayGet, requireGet } from '../access/reading.ts';
import { type Document, documentId, documentNotFound, type JsonObject } from '../document.ts';
import { findUnmet } from './change-document.ts';
import { chosenId, insertChecked, insertWithId, requireInsertAccess } from './insert.ts';
import type { NewDocument } from './new-document.ts';
import { conditionFailed, type Preconditions, parseWriteCondition } from './preconditions.ts';
import { deleteOne } from './trash.ts';
import { updateOne } from './update.ts';

/** A write of a batch or of an effect, with its ids filled in. */
export type BatchWrite = { readonly access: AccessContext; readonly id: ObjectId } & (
  | {
      readonly op: 'insert';
      readonly document: JsonObject;
      /** The caller chose the id. */
      readonly isChosen: boolean;
      /** The document, if it was already made from the body. */
      made?: NewDocument;
    }
  | ({ readonly op: 'update'; readonly changes: JsonObject } & Preconditions)
  | ({ readonly op: 'delete' } & Preconditions)
  | { readonly op: 'check'; readonly where?: unknown }
);

/** The events of effects that a write can cause. */
export const eventsOf = ({ op }: Pick<BatchWrite, 'op'>): readonly EffectEvent[] => {
  if (op === 'check') return [];
  return [op === 'insert' ? 'create' : op];
};

/** The result of one write. */
export interface PerformedWrite {
  readonly status: number;
  readonly document?: Document;
}

const malformed = (message: string): AppError => new AppError('INVALID_BODY', message);

const members = {
  insert: ['id', 'document'],
  update: ['id', 'changes', 'where', 'ifMatch'],
  delete: ['id', 'where', 'ifMatch'],
  check: ['id', 'where'],
} as const;

type Op = keyof typeof members;

const isOp = (value: unknown): value is Op => typeof value === 'string' && Object.hasOwn(members, value);

/** The id of an earlier insert by its number; throws 400 for any other number. */
export type IdOf = (number: unknown) => string;

/** Replaces `{"$id": n}` at any depth. Throws 400 `INVALID_BODY` for other uses of `$id`. */
const withIds = (value: unknown, idOf: IdOf): unknown => {
  if (Array.isArray(value)) return value.map((element) => withIds(element, idOf));
  if (!isPlainObject(value)) return value;
  if (!Object.hasOwn(value, '$id')) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withIds(inner, idOf)]));
  }
  if (Object.keys(value).length > 1) throw malformed('"$id" must be the only member of its object.');
  return idOf(value.$id);
};

const objectAt = (write: JsonObject, name: string, idOf: IdOf): JsonObject => {
  const value = write[name];
  if (isPlainObject(value) && !Object.hasOwn(value, '$id')) return withIds(value, idOf) as JsonObject;
  throw malformed(`"${name}" must be an object.`);
};

const idAt = ({ id }: JsonObject, idOf: IdOf): string => {
  const given = withIds(id, idOf);
  if (typeof given === 'string') return given;
  throw malformed('"id" must be the _id of a document as a text, or {"$id": n} for that of an earlier insert.');
};

const preconditions = (write: JsonObject, idOf: IdOf): Preconditions => {
  const { ifMatch } = write;
  const isGiven = Object.hasOwn(write, 'ifMatch');
  if (isGiven && !(Number.isSafeInteger(ifMatch) && Number(ifMatch) >= 0)) {
    throw malformed('"ifMatch" must be a revision, a whole number.');
  }
  return {
    ...(isGiven && { ifMatch: Number(ifMatch) }),
    ...(Object.hasOwn(write, 'where') && { where: objectAt(write, 'where', idOf) }),
  };
};

interface Parsing {
  readonly accessOf: (collection: Collection) => AccessContext;
  readonly collections: ReadonlyMap<string, Collection>;
  readonly idOf: IdOf;
  /** The id of an insert without one. */
  readonly nextId: ObjectId | undefined;
  /** Whether a write may have a key of its own. */
  readonly isKeyed: boolean;
}

/**
 * Parses a write. Throws 400 `INVALID_BODY` for a malformed one, 400 `INVALID_ID`, 403 `USERS_RESERVED`, 404
 * `COLLECTION_NOT_FOUND`.
 */
export const parseWrite = (sent: unknown, { accessOf, collections, idOf, nextId, isKeyed }: Parsing): BatchWrite => {
  if (!isPlainObject(sent)) throw malformed('A write must be an object, such as {"op":"insert",…}.');
  const { op, collection: name } = sent;
  if (!isOp(op)) throw malformed('"op" must be insert, update, delete or check.');
  const known: readonly string[] = ['op', 'collection', ...(isKeyed ? ['idempotencyKey'] : []), ...members[op]];
  const unknown = Object.keys(sent).find((key) => !known.includes(key));
  if (unknown !== undefined) throw malformed(`"${cutText(unknown, 100)}" is not a member of a write with op "${op}".`);
  const { idempotencyKey: key } = sent;
  if (key !== undefined && !(typeof key === 'string' && idempotencyKeyShape.test(key))) {
    throw malformed('"idempotencyKey" must have 1 to 255 visible ASCII characters, no comma.');
  }
  if (typeof name !== 'string') throw malformed('"collection" must be the name of a collection.');
  if (isUsersName(name)) {
    throw new AppError('USERS_RESERVED', 'A batch cannot write users. Use the routes under /api/userAuth.');
  }
  const collection = collections.get(name);
  if (!collection) throw collectionNotFound(cutText(name, 100));
  const access = accessOf(collection);
  if (op === 'insert') {
    const isChosen = Object.hasOwn(sent, 'id');
    const id = isChosen ? chosenId(idAt(sent, idOf)) : (nextId ?? newId());
    return { op, access, id, isChosen, document: objectAt(sent, 'document', idOf) };
  }
  const id = documentId(idAt(sent, idOf));
  if (op === 'update')
    return { op, access, id, changes: objectAt(sent, 'changes', idOf), ...preconditions(sent, idOf) };
  return { op, access, id, ...preconditions(sent, idOf) };
};

const hold = { _held: true };

/**
 * Throws 404 if the caller may not read the document, 412 if it does not meet the condition. In a transaction, writes
 * to the document and takes the change back, so that every other write conflicts until the commit.
 */
const checkDocument = async (access: AccessContext, _id: ObjectId, where: unknown): Promise<void> => {
  const { project, collection } = access;
  await requireGet(access, false);
  const asked = where === undefined ? undefined : await parseWriteCondition(access, where);
  const document = await onProject(project, (db) =>
    db.collection<Document>(collection.name).findOne({ _id }, { maxTimeMS }),
  );
  const isShown = document && isShownIn(collection, false, document) && (await mayGet(access, document));
  if (!isShown) throw documentNotFound();
  const unmet = asked && (await findUnmet(access, document, where, asked.condition));
  if (unmet) throw await conditionFailed(access, unmet);
  if (!currentTransaction.getStore()) return;
  const writes = [{ $set: hold }, { $unset: hold }].map((update) => ({ updateOne: { filter: { _id }, update } }));
  await onProject(project, (db) => db.collection(collection.name).bulkWrite(writes));
};

/** Carries out a write as a single request would. */
export const performWrite = async (write: BatchWrite): Promise<PerformedWrite> => {
  const { access } = write;
  const id = write.id.toHexString();
  switch (write.op) {
    case 'insert': {
      const { document: body, isChosen, made, id: _id } = write;
      if (isChosen) return { status: 201, document: (await insertWithId(access, id, body, { made })).document };
      await requireInsertAccess(access);
      const { document } = await insertChecked(access, body, { _id, made });
      return { status: 201, document };
    }
    case 'update': {
      const { changes, ifMatch, where } = write;
      return { status: 200, document: (await updateOne(access, id, changes, { ifMatch, where })).document };
    }
    case 'delete': {
      const { ifMatch, where } = write;
      await deleteOne(access, id, false, { ifMatch, where });
      return { status: 200 };
    }
    case 'check':
      await checkDocument(access, write.id, write.where);
      return { status: 200 };
  }
};
