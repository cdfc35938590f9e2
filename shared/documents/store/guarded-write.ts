import type { Filter, Document as MongoDocument } from 'mongodb';
import type { AppError } from '../../core/errors.ts';
import { retryOnConflict } from '../../core/retry.ts';
import type { Document } from '../document.ts';

/** A requirement for writing a document: as a condition of the write, and as a check of a document that was read. */
export interface Guard {
  readonly filter: Filter<MongoDocument>;
  /** Whether documents that match `filter` have room for `unmeasuredGrowth` after the write. */
  readonly leavesRoom?: true;
  /** The filter for a document of `bytes` bytes of BSON that was read and accepted; otherwise `filter` again. */
  readonly filterFor?: (document: Document, bytes: number) => Filter<MongoDocument>;
  /** `filter` is also needed if the document is known to be active and to have room. */
  readonly isAlwaysNeeded?: true;
  /** Keeps the owner. Under rules it is checked before `update.after`. */
  readonly isOfOwner?: true;
  /** The error for a document that cannot be written; `undefined` if it can. */
  readonly refusal: (document: Document, bytes: number) => AppError | undefined;
}

/** Writes of a large document require the revision that was measured, and other requests may be writing to it. */
const usualAttempts = 5;

interface GuardedWrite<T> {
  /** The command, with the conditions in its filter; `null` if they did not hold. */
  readonly write: (conditions: Filter<MongoDocument>) => Promise<T | null>;
  /** Reads the document for which the conditions did not hold, and its bytes of BSON. Throws the reason. */
  readonly read: () => Promise<{ readonly document: Document; readonly bytes: number }>;
  /**
   * Whether the error of a guard for this document counts. If not, the write is repeated, because the condition of
   * the request may not have held for this document.
   */
  readonly confirm?: ((document: Document) => Promise<boolean>) | undefined;
  /** The error message if other requests change the document at each attempt. */
  readonly busy: string;
  /** The number of attempts. */
  readonly attempts?: number;
}

/** Throws the error of the first guard that rejects a document. */
const requireAccepted = (guards: readonly Guard[], document: Document, bytes: number): void => {
  for (const { refusal } of guards) {
    const refused = refusal(document, bytes);
    if (refused) throw refused;
  }
};

/**
 * Writes a document for which all guards hold, decided by one command. Only if it changed nothing is the document
 * read: the first guard that rejects it gives the error; otherwise the write is repeated with the document's own
 * conditions, and finally fails with 503.
 */
export const writeGuarded = <T>(
  guards: readonly Guard[],
  { write, read, confirm, busy, attempts = usualAttempts }: GuardedWrite<T>,
): Promise<T> => {
  let conditions = guards.map(({ filter }) => filter);
  const attempt = async (): Promise<T | null> => {
    const result = await write(conditions.length > 0 ? { $and: conditions } : {});
    if (result !== null) return result;
    const { document, bytes } = await read();
    try {
      requireAccepted(guards, document, bytes);
    } catch (error) {
      if (confirm && !(await confirm(document))) return null;
      throw error;
    }
    conditions = guards.map(({ filter, filterFor }) => filterFor?.(document, bytes) ?? filter);
    return null;
  };
  return retryOnConflict(busy, attempt, attempts);
};
