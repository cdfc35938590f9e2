import type { Collection as Documents, Filter, Document as MongoDocument, ObjectId } from 'mongodb';
import { onProject } from '../../clients/mongo.ts';
import { deserialize, rawDocument } from '../../clients/raw-documents.ts';
import type { Collection } from '../../collections/collection.ts';
import type { AppError } from '../../core/errors.ts';
import { untilWritten } from '../../core/until-written.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { type Document, documentId, documentNotFound } from '../document.ts';
import { isTrashed } from '../present.ts';
import { mayWrite, notOwner, writeFilter } from '../row-security.ts';

/** A write to one document, decided by one conditional command. */
export interface Change<T> {
  /** What the document must be for the write to happen. */
  readonly state: 'active' | 'trashed' | 'any';
  /** Further conditions, which a document may fail although it can be written. */
  readonly conditions?: readonly Filter<MongoDocument>[];
  /** The conditions of a second attempt, for a document that was read (`bytes` of BSON) and not refused. */
  readonly conditionsFor?: (document: Document, bytes: number) => readonly Filter<MongoDocument>[];
  /** Why a document that was read cannot be written. */
  readonly refusal?: (document: Document, bytes: number) => AppError | undefined;
  /** The one command, with every condition in it; `null` where they did not hold. */
  readonly write: (documents: Documents, filter: Filter<MongoDocument>, _id: ObjectId) => Promise<T | null>;
}

/** Attempts: a large document must be unchanged since it was measured, while others may be writing to it. */
const maxTries = 5;

const states: Readonly<Record<Change<unknown>['state'], Filter<MongoDocument>>> = {
  active: { isDeleted: { $ne: true } },
  trashed: { isDeleted: true },
  any: {},
};

const isIn = (state: Change<unknown>['state'], document: Document): boolean =>
  state === 'any' || isTrashed(document) === (state === 'trashed');

/** A document as it is stored, and its bytes of BSON. */
const read = async (
  project: Project,
  { name }: Collection,
  _id: ObjectId,
): Promise<{ readonly document: Document; readonly bytes: number } | undefined> => {
  const raw = await onProject(project, (db) => db.collection(name).findOne({ _id }, { raw: true, maxTimeMS: 5000 }));
  if (!raw) return undefined;
  const bytes = rawDocument(raw);
  return { document: deserialize(bytes) as Document, bytes: bytes.byteLength };
};

/**
 * Writes to one document that the caller may write; the one command decides, its filter holds every condition. Only a
 * write that changed nothing reads the document to say why: 404 missing, 403 `NOT_OWNER`, 404 in the wrong state, or
 * the change's own refusal. Where there is no reason it tries again a few times, then throws 503.
 */
export const changeDocument = async <T>(
  project: Project,
  collection: Collection,
  caller: Caller,
  id: string,
  change: Change<T>,
): Promise<T> => {
  const mine = writeFilter(collection, caller);
  const _id = documentId(id);
  let { conditions = [] } = change;
  const write = async (): Promise<T | null> => {
    const filter: Filter<MongoDocument> = {
      _id,
      ...states[change.state],
      ...mine,
      ...(conditions.length > 0 ? { $and: [...conditions] } : {}),
    };
    const result = await onProject(project, (db) => change.write(db.collection(collection.name), filter, _id));
    if (result !== null) return result;
    const found = await read(project, collection, _id);
    if (!found) throw documentNotFound();
    const { document, bytes } = found;
    // Whether another user's document is in the trash is theirs to know, so this comes before its state.
    if (!mayWrite(collection, caller, document)) throw notOwner();
    if (!isIn(change.state, document)) throw documentNotFound();
    const refusal = change.refusal?.(document, bytes);
    if (refusal) throw refusal;
    conditions = change.conditionsFor?.(document, bytes) ?? conditions;
    return null;
  };
  return untilWritten('The document is being changed by others right now. Please try again.', write, maxTries);
};
