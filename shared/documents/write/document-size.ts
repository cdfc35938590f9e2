import { BSON } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import type { JsonObject } from '../document.ts';
import { answerPerBson, maxPageBytes, measured } from '../read/page-size.ts';
import { fusedGrowth } from './fuse.ts';
import type { Guard } from './guarded-write.ts';

/** How large a document may grow, in bytes of BSON (contract 2, "Insert"). */
export const maxDocumentBytes = 4 * 1024 * 1024;

/** The refusal of a document that is or would become too large (413). */
export const documentTooLarge = (): AppError =>
  new AppError(
    'DOCUMENT_TOO_LARGE',
    'The document would be larger than 4 MiB, or than 5 MiB of JSON, in which each quote and backslash counts twice. Split it into several documents.',
  );

/** Size of a JSON object in bytes of BSON. */
export const sizeOf = (object: JsonObject): number => BSON.calculateObjectSize(object);

/** What a write adds to a document at most, in bytes: of BSON, and of an answer that has it. */
interface Added {
  readonly stored: number;
  readonly answered: number;
}

/** What stays as it is in size, such as a document that leaves the trash. */
export const nothingAdded: Added = { stored: 0, answered: 0 };

/** Up to this many bytes of BSON an upper bound is used instead of measuring. */
const worthMeasuring = 16 * 1024;

/** What an object of so many bytes of BSON adds where its fields are set. Too large for any document → 413. */
export const addedBy = (object: JsonObject): Added => {
  const stored = sizeOf(object);
  if (stored > maxDocumentBytes) throw documentTooLarge();
  return { stored, answered: stored < worthMeasuring ? stored * answerPerBson : measured(object) };
};

/** Whether a document of `bytes` bytes of BSON has room for an addition. */
const fits = (document: JsonObject, bytes: number, { stored, answered }: Added): boolean =>
  bytes + stored <= maxDocumentBytes &&
  (bytes * answerPerBson + answered <= maxPageBytes || measured(document) + answered <= maxPageBytes);

/** Refuses a document of so many bytes of BSON that is too large in itself: 413. */
export const requireFit = (document: JsonObject, bytes: number): void => {
  if (!fits(document, bytes, nothingAdded)) throw documentTooLarge();
};

/**
 * The document must have room for an addition. Small ones have it whatever they contain, and for what a new fuse lets
 * them grow by besides; larger ones have to be read and measured, and must then be unchanged, so that what was measured
 * still holds.
 */
export const mustHaveRoom = (added: Added, refusal: () => AppError): Guard => {
  const { stored, answered } = added;
  const most = Math.min(maxDocumentBytes - stored, Math.floor((maxPageBytes - answered) / answerPerBson)) - fusedGrowth;
  return {
    filter: { $expr: { $lte: [{ $bsonSize: '$$ROOT' }, most] } },
    leavesRoom: true,
    filterFor: (document, bytes) => ({
      updatedAt: { $eq: document.updatedAt ?? null },
      $expr: { $eq: [{ $bsonSize: '$$ROOT' }, bytes] },
    }),
    refusal: (document, bytes) => (fits(document, bytes, added) ? undefined : refusal()),
  };
};
