import type { Document as MongoDocument } from 'mongodb';
import { AppError } from '../core/errors.ts';
import type { Document } from './document.ts';
import type { Guard } from './write/guarded-write.ts';

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

/** The refusal of a write to a document that others have written to meanwhile (412). */
const revisionMismatch = (revision: number): AppError =>
  new AppError(
    'REVISION_MISMATCH',
    `The document was changed by others: its revision is ${revision} now. Read it again, and write to that revision.`,
    { etag: etagOf(revision) },
  );

/** The document must be at a revision. */
export const mustBeAt = (revision: number): Guard => ({
  filter: { $expr: { $eq: [current, revision] } },
  refusal: (document) => {
    const now = revisionOf(document);
    return now === revision ? undefined : revisionMismatch(now);
  },
});
