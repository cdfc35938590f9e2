import type { Document as MongoDocument, ObjectId } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import { idOf } from '../core/view.ts';
import type { Project } from '../projects/project.ts';
import { wireDocument } from './wire.ts';

/** A JSON object as the body parser hands it over: plain values only, nesting at most 64 levels. */
export type JsonObject = { readonly [key: string]: unknown };

/** A document on its way out; `JSON.stringify` gives its wire form (24 hex characters, ISO dates). */
export type Document = { readonly _id: ObjectId; readonly [key: string]: unknown };

/** A document id from a path. Malformed → 400 `INVALID_ID`. */
export const documentId = (id: string): ObjectId => {
  const read = idOf(id);
  if (read) return read;
  throw new AppError('INVALID_ID', `"${cutText(id, 40)}" is not a document id: it must be 24 hexadecimal characters.`);
};

/** The refusal of a document that is missing, trashed, or hidden from the caller. */
export const documentNotFound = (): AppError => new AppError('DOCUMENT_NOT_FOUND', 'Document not found');

/** The hidden field that counts the writes of the service to a document. */
export const revisionField = '_rev';

const stored = `$${revisionField}`;

/** Each part of it is looked at only where those before it hold. */
const isWhole = {
  $and: [
    { $in: [{ $type: stored }, ['int', 'long', 'double']] },
    { $gte: [stored, 0] },
    { $lt: [stored, Number.MAX_SAFE_INTEGER] },
    { $eq: [{ $mod: [stored, 1] }, 0] },
  ],
};

const current = { $cond: [isWhole, stored, 0] };

/** The revision that a write makes of a document, as an expression of an update. */
export const nextRevision = { $cond: [isWhole, { $add: [stored, 1] }, 1] } as const;

/** A document as it is shown, and its revision, which is not. */
export interface Revised<T = Document> {
  readonly document: T;
  readonly revision: number;
}

const isRevision = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && value !== Number.MAX_SAFE_INTEGER;

/** A document's revision; what is stored and no whole number, as another program may have, counts as 0. */
export const revisionOf = ({ [revisionField]: value }: Document): number => (isRevision(value) ? value : 0);

/** The revision that the next write gives a document. */
export const nextOf = (document: Document): number => revisionOf(document) + 1;

/** What makes an operator update count: where it may, and with what. */
export interface Counting {
  readonly where: MongoDocument;
  readonly operators: MongoDocument;
}

const isCounted = { $or: [{ $eq: [{ $type: stored }, 'missing'] }, isWhole] };

/** For every document of ours; `$inc` refuses, or miscounts, what is no whole number. */
export const counting: Counting = {
  where: { $expr: isCounted },
  operators: { $inc: { [revisionField]: 1 } },
};

/** For a document that another program has given something else there. */
const countingAnew: Counting = {
  where: { $expr: { $not: [isCounted] } },
  operators: { $set: { [revisionField]: 1 } },
};

/** Both; of any document one of them holds. */
export const countings: readonly Counting[] = [counting, countingAnew];

/** What counts for a document that was read. */
export const countingOf = ({ [revisionField]: value }: Document): Counting =>
  value === undefined || isRevision(value) ? counting : countingAnew;

/** A revision as a header gives it. */
export const etagOf = (revision: number): string => `"${revision}"`;

/** The condition of documents at a revision. */
export const isAt = (revision: number): MongoDocument => ({ $expr: { $eq: [current, revision] } });

/** A document without what nobody sees of it. */
export const withoutHidden = (document: Document): Document => {
  if (!('_rev' in document || '_pos' in document || '_gone' in document || '_fuse' in document)) return document;
  const { _rev, _pos, _gone, _fuse, ...shown } = document;
  return shown;
};

/** A stored document as callers see it: without system fields it is active and shows so (contract 2, "Active"). */
export const present = (document: Document): Document => {
  const shown = withoutHidden(document);
  const { isDeleted, deletedAt } = shown;
  if (isDeleted !== undefined && deletedAt !== undefined) return shown;
  return { ...shown, isDeleted: isDeleted ?? false, deletedAt: deletedAt ?? null };
};

/** The same of a document that the driver decoded: only one of a customer's own database needs its wire form made. */
export const presentStored = ({ placement }: Project, stored: Document): Revised => ({
  document: present(placement.kind === 'managed' ? stored : wireDocument(stored)),
  revision: revisionOf(stored),
});
