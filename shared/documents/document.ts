import type { Document as MongoDocument, ObjectId } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import { idOf } from '../core/values.ts';
import type { Project } from '../projects/project.ts';
import { wireDocument } from './wire.ts';

/** A parsed JSON object: plain values only, nested at most 64 levels deep. */
export type JsonObject = { readonly [key: string]: unknown };

/** A document in a response. `JSON.stringify` writes its wire form (24 hex characters, ISO dates). */
export type Document = { readonly _id: ObjectId; readonly [key: string]: unknown };

/** A document id from a path. Throws 400 `INVALID_ID` if it is malformed. */
export const documentId = (id: string): ObjectId => {
  const read = idOf(id);
  if (read) return read;
  throw new AppError('INVALID_ID', `"${cutText(id, 40)}" is not a document id: it must be 24 hexadecimal characters.`);
};

/** The error for a document that is missing, trashed or hidden from the caller. */
export const documentNotFound = (): AppError => new AppError('DOCUMENT_NOT_FOUND', 'Document not found');

/** The hidden field that counts the service's writes of a document. */
export const revisionField = '_rev';

const stored = `$${revisionField}`;

/** Each condition is only evaluated if those before it hold. */
const isWhole = {
  $and: [
    { $in: [{ $type: stored }, ['int', 'long', 'double']] },
    { $gte: [stored, 0] },
    { $lt: [stored, Number.MAX_SAFE_INTEGER] },
    { $eq: [{ $mod: [stored, 1] }, 0] },
  ],
};

const current = { $cond: [isWhole, stored, 0] };

/** The revision after a write, as an expression of an update. */
export const nextRevision = { $cond: [isWhole, { $add: [stored, 1] }, 1] } as const;

/** A document as it is shown, with its revision, which is not. */
interface Revised<T = Document> {
  readonly document: T;
  readonly revision: number;
}

const isRevision = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && value !== Number.MAX_SAFE_INTEGER;

/** A document's revision. A value that is not a whole number, stored by another program, counts as 0. */
export const revisionOf = ({ [revisionField]: value }: Document): number => (isRevision(value) ? value : 0);

/** The revision after the next write of a document. */
export const nextOf = (document: Document): number => revisionOf(document) + 1;

/** How an update increases the revision: on which documents, and with which operators. */
export interface Counting {
  readonly where: MongoDocument;
  readonly operators: MongoDocument;
}

/** MongoDB compares an array by its elements, and a Decimal like other numbers; neither is a revision. */
const isNumber = { $not: { $type: ['array', 'decimal'] } };

/** `$bitsAllClear` matches whole numbers only. The same as an `$expr` costs MongoDB a sixth more per write. */
const isCounted: MongoDocument = {
  $or: [
    { [revisionField]: { $gte: 0, $lt: Number.MAX_SAFE_INTEGER, $bitsAllClear: 0, ...isNumber } },
    { [revisionField]: { $exists: false } },
  ],
};

/** For documents written by the service. `$inc` fails or miscounts on values that are not whole numbers. */
export const counting: Counting = {
  where: isCounted,
  operators: { $inc: { [revisionField]: 1 } },
};

/** For documents in which another program has stored something else. */
const countingAnew: Counting = {
  where: { $nor: [isCounted] },
  operators: { $set: { [revisionField]: 1 } },
};

/** Both; exactly one applies to each document. */
export const countings: readonly Counting[] = [counting, countingAnew];

/** The one for a document that was read. */
export const countingOf = ({ [revisionField]: value }: Document): Counting =>
  value === undefined || isRevision(value) ? counting : countingAnew;

export const isAt = (revision: number): MongoDocument => ({ $expr: { $eq: [current, revision] } });

/** A document without its hidden fields. */
export const withoutHidden = (document: Document): Document => {
  const isBare = !('_rev' in document || '_pos' in document || '_gone' in document || '_fuse' in document);
  if (isBare && !('_effects' in document)) return document;
  const { _rev, _pos, _gone, _fuse, _effects, ...shown } = document;
  return shown;
};

/**
 * A stored document as callers see it. Without system fields it is active and shown as active (contract 2,
 * "Active").
 */
export const present = (document: Document): Document => {
  const shown = withoutHidden(document);
  const { isDeleted, deletedAt } = shown;
  if (isDeleted !== undefined && deletedAt !== undefined) return shown;
  return { ...shown, isDeleted: isDeleted ?? false, deletedAt: deletedAt ?? null };
};

/** The same for a decoded document. Only those of customers' databases need a conversion to the wire form. */
export const presentStored = ({ placement }: Project, stored: Document): Revised => ({
  document: present(placement.kind === 'managed' ? stored : wireDocument(stored)),
  revision: revisionOf(stored),
});
