import type { Filter, Document as MongoDocument } from 'mongodb';
import type { AppError } from '../../core/errors.ts';
import { retryOnConflict } from '../../core/retry.ts';
import { hasCode } from '../../persistence/mongo-errors.ts';
import type { Project } from '../../projects/project.ts';
import type { Document } from '../document.ts';
import { answerPerBson, maxPageBytes } from '../page-size.ts';
import type { NewDocument } from './insert.ts';

/** A requirement for writing a document: as a condition of the write, and as a check of a document that was read. */
export interface Guard {
  readonly filter: Filter<MongoDocument>;
  /** Whether documents that match `filter` have room for `fusedGrowth` after the write. */
  readonly leavesRoom?: true;
  /** The filter for a document of `bytes` bytes of BSON that was read and accepted; otherwise `filter` again. */
  readonly filterFor?: (document: Document, bytes: number) => Filter<MongoDocument>;
  /** A write decided by the fuse also needs `filter`. */
  readonly besideFuse?: true;
  /** Keeps the owner. Under rules it is checked before `update.after`. */
  readonly isOfOwner?: true;
  /** The error for a document that cannot be written; `undefined` if it can. */
  readonly refusal: (document: Document, bytes: number) => AppError | undefined;
}

/** A large document must not change after it was measured, and others may be writing to it. */
const usualAttempts = 5;

interface GuardedWrite<T> {
  /** The command, with the conditions in its filter; `null` if they did not hold. */
  readonly write: (conditions: Filter<MongoDocument>) => Promise<T | null>;
  /** Reads the document for which the conditions did not hold, and its bytes of BSON. Throws the reason. */
  readonly read: () => Promise<{ readonly document: Document; readonly bytes: number }>;
  /** The message if others change the document at each try. */
  readonly busy: string;
  /** The number of tries. */
  readonly attempts?: number;
}

/**
 * Writes a document for which all guards hold, decided by one command. Only if it changed nothing is the document
 * read: the first guard that rejects it gives the error; otherwise the write is repeated with the document's own
 * conditions, and finally fails with 503.
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
 * MongoDB is fastest if a write finds its document by `_id` alone; any further condition costs half as much again.
 * The fuse still enforces that the document is active and has room: it is a number in a hidden array, which an
 * update doubles and a move to the trash raises by 2^62. MongoDB rejects both if there is no fuse, or if the result
 * exceeds 64 bits, which is the case in the trash and after 62 updates. A rejected write is repeated with a filter,
 * which decides; an update that finds room then stores a new fuse. So only documents that are known to be active and
 * to have room for 62 updates have one.
 */

/** The hidden field of a document's fuse. */
export const fuseField = '_fuse';

const updates = 62;

/** The maximum bytes of BSON of an update that the fuse decides. */
export const maxFusedBytes = 4096;

/** The maximum growth of a document until its fuse rejects updates. */
export const fusedGrowth = updates * maxFusedBytes;

/** A document of so many bytes of BSON has room for `fusedGrowth`, whatever it contains. */
const smallBytes = Math.floor(maxPageBytes / answerPerBson) - fusedGrowth;

/** The fuse of a document that was found to be active and to have room for `fusedGrowth`. */
export const newFuse = { [fuseField]: [1] } as const;

const element = `${fuseField}.$[]`;

/** The part of an update that the fuse decides: of fields, or of a move to the trash. */
export const guardUpdate: MongoDocument = { $mul: { [element]: 2 } };
export const guardDeletion: MongoDocument = { $inc: { [element]: 2n ** 62n } };

/** Other programs write to customers' databases and know nothing of fuses. */
export const hasFuses = ({ placement }: Pick<Project, 'placement'>): boolean => placement.kind === 'managed';

/** A new document as it is stored: with a fuse if it has room. */
export const withFuse = (project: Project, { document, size }: NewDocument): Document =>
  hasFuses(project) && size <= smallBytes ? { ...document, ...newFuse } : document;

/** The result of a write, or `undefined` if a fuse rejected it. */
export const unlessRefused = async <T>(write: Promise<T>): Promise<T | undefined> => {
  try {
    return await write;
  } catch (error) {
    // Caused by the fuse, or by a revision that is not a number, which no document with a fuse has.
    if (hasCode(error, 2, 14)) return undefined;
    throw error;
  }
};
