import type { Filter, Document as MongoDocument } from 'mongodb';
import type { AppError } from '../../core/errors.ts';
import { retryOnConflict } from '../../core/retry.ts';
import { hasCode } from '../../persistence/mongo-errors.ts';
import type { Project } from '../../projects/project.ts';
import type { Document } from '../document.ts';
import { answerPerBson, maxPageBytes } from '../page-size.ts';
import type { NewDocument } from './insert.ts';

/** What a document must be like to be written: as a condition of the write, and as a check of one that was read. */
export interface Guard {
  readonly filter: Filter<MongoDocument>;
  /** Whether what matches `filter` has room for `fusedGrowth` once it is written. */
  readonly leavesRoom?: true;
  /** What a document of `bytes` bytes of BSON must match that was read and not refused; otherwise `filter` again. */
  readonly filterFor?: (document: Document, bytes: number) => Filter<MongoDocument>;
  /** A write that the fuse decides has `filter` as well. */
  readonly besideFuse?: true;
  /** The owner stays; under rules this is asked before `update.after`. */
  readonly isOfOwner?: true;
  /** Why such a document cannot be written; `undefined` where it can. */
  readonly refusal: (document: Document, bytes: number) => AppError | undefined;
}

/** A large document must be unchanged since it was measured, while others may be writing to it. */
const usualAttempts = 5;

interface GuardedWrite<T> {
  /** The one command, with the conditions in its filter; `null` where they did not hold. */
  readonly write: (conditions: Filter<MongoDocument>) => Promise<T | null>;
  /** The document that the conditions did not hold for, and its bytes of BSON; throws where that is why. */
  readonly read: () => Promise<{ readonly document: Document; readonly bytes: number }>;
  /** What to say where others change the document at each attempt. */
  readonly busy: string;
  /** How often it is tried. */
  readonly attempts?: number;
}

/**
 * Writes where all guards hold, decided by one command. Only a write that changed nothing reads the document: the first
 * guard that refuses it says why; where none does it is written under the conditions that are its own, or 503.
 */
export const writeGuarded = <T>(
  guards: readonly Guard[],
  { write, read, busy, attempts = usualAttempts }: GuardedWrite<T>,
): Promise<T> => {
  let conditions = guards.map(({ filter }) => filter);
  const attempt = async (): Promise<T | null> => {
    const result = await write(conditions.length > 0 ? { $and: conditions } : {});
    if (result !== null) return result;
    const { document, bytes } = await read();
    for (const { refusal } of guards) {
      const refused = refusal(document, bytes);
      if (refused) throw refused;
    }
    conditions = guards.map(({ filter, filterFor }) => filterFor?.(document, bytes) ?? filter);
    return null;
  };
  return retryOnConflict(busy, attempt, attempts);
};

/*
 * A write that finds a document by `_id` alone is on MongoDB's fast path; any condition beside it costs half as much
 * again. What has to hold all the same, that the document is active and has room, its fuse decides: a number in a
 * hidden array, which an update doubles and a move to the trash raises by 2^62. MongoDB refuses both where there is no
 * fuse, and where 64 bits do not hold the result, which is so in the trash and after 62 updates. Who is refused writes
 * by a filter instead, which decides by itself, and an update that finds room gives the document a new fuse. So only
 * what the service knows to be active and to have room for 62 updates has one.
 */

/** The hidden field of a document's fuse. */
export const fuseField = '_fuse';

const updates = 62;

/** Bytes of BSON that an update may set which the fuse decides. */
export const maxFusedBytes = 4096;

/** By how much a document grows at most until its fuse refuses. */
export const fusedGrowth = updates * maxFusedBytes;

/** Whatever a document of so many bytes of BSON contains, it has room for `fusedGrowth`. */
const smallBytes = Math.floor(maxPageBytes / answerPerBson) - fusedGrowth;

/** What a document has that was found to be active and to have room for `fusedGrowth`. */
export const newFuse = { [fuseField]: [1] } as const;

const element = `${fuseField}.$[]`;

/** Part of an update that the fuse is to decide: of fields, or of a move to the trash. */
export const guardUpdate: MongoDocument = { $mul: { [element]: 2 } };
export const guardDeletion: MongoDocument = { $inc: { [element]: 2n ** 62n } };

/** Other programs write to a project's own database, and know nothing of fuses. */
export const hasFuses = ({ placement }: Pick<Project, 'placement'>): boolean => placement.kind === 'managed';

/** A new document as it is stored: with a fuse if it has room. */
export const withFuse = (project: Project, { document, size }: NewDocument): Document =>
  hasFuses(project) && size <= smallBytes ? { ...document, ...newFuse } : document;

/** What a write of a document is in the end, or `undefined` if it was refused by a fuse. */
export const unlessRefused = async <T>(write: Promise<T>): Promise<T | undefined> => {
  try {
    return await write;
  } catch (error) {
    // Of the fuse, or of a revision that is no number, which no document with a fuse has.
    if (hasCode(error, 2, 14)) return undefined;
    throw error;
  }
};
