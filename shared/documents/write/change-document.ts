import type { Collection as Documents, Filter, Document as MongoDocument } from 'mongodb';
import { onProject } from '../../clients/mongo.ts';
import { deserialize, rawDocument } from '../../clients/raw-documents.ts';
import type { Collection } from '../../collections/collection.ts';
import type { Caller } from '../../projects/project.ts';
import { nudge } from '../changes/nudge.ts';
import { stamped } from '../changes/stamp.ts';
import { type Document, documentId, documentNotFound, type JsonObject } from '../document.ts';
import { type Counting, counting, countingOf, mustBeAt, nextRevision, revisionField } from '../revision.ts';
import { mayWrite, notOwner, requireWriteAccess, type Visit, writeCondition, writeFilter } from '../row-security.ts';
import { isActive, isGone, isNotGone, isStillActive, isTrashed } from '../trash/trash-conditions.ts';
import { type Guard, writeGuarded } from './guarded-write.ts';

/** When a document is written, which one conditional command decides. */
interface Conditions {
  /** What the document must be. */
  readonly state: 'active' | 'trashed' | 'any';
  readonly guards?: readonly Guard[];
  /** The revision that it must be at. */
  readonly ifMatch?: number | undefined;
}

interface DocumentChange<T> extends Conditions {
  /** The one command, with every condition in it; `null` where they did not hold. An operator update counts by `counting`. */
  readonly write: (documents: Documents, filter: Filter<MongoDocument>, counting: Counting) => Promise<T | null>;
}

/** A large document must be unchanged since it was measured, while others may be writing to it. */
const attempts = 5;

const states: Readonly<Record<Conditions['state'], Filter<MongoDocument>>> = {
  active: isActive,
  trashed: { isDeleted: true },
  any: {},
};

const isIn = (state: Conditions['state'], document: Document): boolean =>
  state === 'any' || isTrashed(document) === (state === 'trashed');

/** A document that the caller may write in this state; else 404 missing, 403 `NOT_OWNER`, 404 in another state. */
const writable = (
  collection: Collection,
  caller: Caller,
  state: Conditions['state'],
  stored: MongoDocument | null,
): Document => {
  const document = stored as Document | null;
  if (!document || isGone(collection, document)) throw documentNotFound();
  // Whether another user's document is in the trash is theirs to know, so this comes before its state.
  if (!mayWrite(collection, caller, document)) throw notOwner();
  if (!isIn(state, document)) throw documentNotFound();
  return document;
};

/**
 * Writes to one document that the caller may write; the one command decides, its filter holds every condition. Only a
 * write that changed nothing reads the document to say why: 404 missing, 403 `NOT_OWNER`, 404 in the wrong state, or
 * what a guard says. Where there is no reason it tries again a few times, then throws 503.
 */
export const changeDocument = async <T>(
  { project, collection, caller }: Visit,
  id: string,
  { state, guards = [], ifMatch, write }: DocumentChange<T>,
): Promise<T> => {
  const mine = writeFilter(collection, caller);
  const there = collection.feed && state !== 'active' ? isNotGone : {};
  const _id = documentId(id);
  const onDocuments = <R>(run: (documents: Documents) => Promise<R>): Promise<R> =>
    onProject(project, (db) => run(db.collection(collection.name)));
  let counted = counting;
  return writeGuarded(ifMatch === undefined ? guards : [mustBeAt(ifMatch), ...guards], {
    write: (conditions) =>
      onDocuments((documents) =>
        write(documents, { _id, ...states[state], ...there, ...mine, ...conditions }, stamped(collection, counted)),
      ),
    read: async () => {
      const raw = await onDocuments((documents) => documents.findOne({ _id }, { raw: true, maxTimeMS: 5000 }));
      const bytes = raw && rawDocument(raw);
      const document = writable(collection, caller, state, bytes && deserialize(bytes));
      counted = countingOf(document);
      return { document, bytes: bytes?.byteLength ?? 0 };
    },
    attempts,
    busy: 'The document is being changed by others right now. Please try again.',
  });
};

/** What a write of fields answers of the document, if not all. */
type Shown = { readonly [field: string]: 1 };

/** Sets fields of one document that the caller may write, tells those who watch, and returns it as it is then. */
export const setFields = async (
  visit: Visit,
  id: string,
  { fields, projection, ...when }: Conditions & { readonly fields: JsonObject; readonly projection?: Shown },
): Promise<Document> => {
  const written = (await changeDocument(visit, id, {
    ...when,
    write: (documents, filter, { where, operators }) =>
      documents.findOneAndUpdate(
        { ...filter, ...where },
        { ...operators, $set: { ...fields, ...operators.$set } },
        { returnDocument: 'after', ...(projection && { projection }) },
      ),
  })) as Document;
  await nudge(visit.project, visit.collection, [written]);
  return written;
};

/**
 * Sets fields whose names have no dots in an active document that the caller may write, where all of `conditions` hold,
 * expressions, and leaves it as it is where not; what is written counts as a revision. `_id` alone finds it and the
 * update decides: conditions beside `_id` in the filter cost MongoDB as much again as the write, as they leave its fast
 * path. Returns the document before or after that.
 */
export const mergeFields = async (
  { project, collection, caller }: Visit,
  id: string,
  fields: JsonObject,
  conditions: readonly MongoDocument[],
  answer: { readonly returnDocument: 'before' | 'after'; readonly projection?: Shown },
): Promise<Document> => {
  requireWriteAccess(collection, caller);
  const _id = documentId(id);
  const may = { $and: [isStillActive, writeCondition(collection, caller), ...conditions] };
  const merged = { $mergeObjects: [{ $literal: fields }, { [revisionField]: nextRevision }] };
  const update = [{ $replaceWith: { $mergeObjects: ['$$ROOT', { $cond: [may, merged, null] }] } }];
  // Not `raw`, which leaves the labels of a failure, by which the driver tries again, and its field as bytes.
  const options = { ...answer, enableUtf8Validation: false } as const;
  const stored = await onProject(project, (db) =>
    db.collection(collection.name).findOneAndUpdate({ _id }, update, options),
  );
  return writable(collection, caller, 'active', stored);
};
