import type { Filter, Document as MongoDocument } from 'mongodb';
import type { AppError } from '../../core/errors.ts';
import { untilWritten } from '../../core/until-written.ts';
import type { Document } from '../document.ts';

/** What a document must be like to be written: as a condition of the write, and as a check of one that was read. */
export interface Guard {
  readonly filter: Filter<MongoDocument>;
  /** Whether what matches `filter` has room for `fusedGrowth` once it is written. */
  readonly leavesRoom?: true;
  /** What a document of `bytes` bytes of BSON must match that was read and not refused; otherwise `filter` again. */
  readonly filterFor?: (document: Document, bytes: number) => Filter<MongoDocument>;
  /** Why such a document cannot be written; `undefined` where it can. */
  readonly refusal: (document: Document, bytes: number) => AppError | undefined;
}

/** A large document must be unchanged since it was measured, while others may be writing to it. */
const attempts = 5;

interface GuardedWrite<T> {
  /** The one command, with the conditions in its filter; `null` where they did not hold. */
  readonly write: (conditions: Filter<MongoDocument>) => Promise<T | null>;
  /** The document that the conditions did not hold for, and its bytes of BSON; throws where that is why. */
  readonly read: () => Promise<{ readonly document: Document; readonly bytes: number }>;
  /** What to say where others change the document at each attempt. */
  readonly busy: string;
}

/**
 * Writes where all guards hold, decided by one command. Only a write that changed nothing reads the document: the first
 * guard that refuses it says why; where none does it is written under the conditions that are its own, or 503.
 */
export const writeGuarded = <T>(guards: readonly Guard[], { write, read, busy }: GuardedWrite<T>): Promise<T> => {
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
  return untilWritten(busy, attempt, attempts);
};
