import type { Collection as Documents, Filter, Document as MongoDocument, ObjectId } from 'mongodb';
import { onProject } from '../clients/mongo.ts';
import type { Collection } from '../collections/collection.ts';
import { AppError } from '../errors.ts';
import type { Caller, Project } from '../projects/project.ts';
import { type Document, documentId, documentNotFound } from './document.ts';
import { isTrashed } from './present.ts';
import { mayWrite, notOwner, writeFilter } from './row-security.ts';

/** A write to one document, decided by one conditional command. */
export interface Change<T> {
  /** What the document must be for the write to happen. */
  readonly state: 'active' | 'trashed' | 'any';
  /** Further conditions; `refusal` says which of them a document fails. */
  readonly conditions?: readonly Filter<MongoDocument>[];
  readonly refusal?: (document: Document) => AppError | undefined;
  /** The one command, with every condition in it; `null` where they did not hold. */
  readonly write: (documents: Documents, filter: Filter<MongoDocument>, _id: ObjectId) => Promise<T | null>;
}

const states: Readonly<Record<Change<unknown>['state'], Filter<MongoDocument>>> = {
  active: { isDeleted: { $ne: true } },
  trashed: { isDeleted: true },
  any: {},
};

const isIn = (state: Change<unknown>['state'], document: Document): boolean =>
  state === 'any' || isTrashed(document) === (state === 'trashed');

/**
 * Writes to one document that the caller may write; the one command decides, its filter holds every condition. Only a write
 * that changed nothing reads the document to say why: 404 missing or in the wrong state, 403 `NOT_OWNER`, or the change's own
 * refusal. Where the reason is gone by then it tries once more, then answers 503.
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
  const { conditions = [] } = change;
  const filter: Filter<MongoDocument> = {
    _id,
    ...states[change.state],
    ...mine,
    ...(conditions.length > 0 ? { $and: [...conditions] } : {}),
  };
  for (let tries = 0; tries < 2; tries += 1) {
    const result = await onProject(project, (db) => change.write(db.collection(collection.name), filter, _id));
    if (result !== null) return result;
    const document = await onProject(project, (db) =>
      db.collection<Document>(collection.name).findOne({ _id }, { maxTimeMS: 5000 }),
    );
    if (!document || !isIn(change.state, document)) throw documentNotFound();
    if (!mayWrite(collection, caller, document)) throw notOwner();
    const refusal = change.refusal?.(document);
    if (refusal) throw refusal;
  }
  throw new AppError('SERVICE_UNAVAILABLE', 'The document is being changed by others right now. Please try again.', {
    retryAfter: 1,
  });
};
