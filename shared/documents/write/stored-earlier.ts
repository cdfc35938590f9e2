import type { ObjectId } from 'mongodb';
import { maxTimeMS } from '../../clients/find-raw.ts';
import { onProject } from '../../clients/mongo.ts';
import { unavailable } from '../../clients/mongo-failure.ts';
import { isGone } from '../../collections/trash-conditions.ts';
import type { AppError } from '../../core/errors.ts';
import { earlierIds } from '../../core/new-id.ts';
import { outcomeUnknown } from '../../work/once/idempotency-key.ts';
import type { Document } from '../document.ts';
import type { Visit } from '../row-security.ts';

/** What an earlier run of this request stored: it ended without an answer, and its documents have the same ids. */
interface StoredEarlier {
  /** Those of all that the request stores, in order. */
  readonly ids: readonly ObjectId[];
  readonly documents: readonly Document[];
}

/**
 * What a run before this one stored of its first `count` documents; `undefined` where there was no run. Where a
 * tombstone has taken the place of one, which cannot come back → 409 `IDEMPOTENCY_OUTCOME_UNKNOWN`.
 */
export const storedEarlier = async (
  { project, collection }: Visit,
  count: number,
): Promise<StoredEarlier | undefined> => {
  const ids = earlierIds(count);
  if (!ids) return undefined;
  const documents = await onProject(project, (db) =>
    db
      .collection<Document>(collection.name)
      .find({ _id: { $in: [...ids] } }, { maxTimeMS })
      .toArray(),
  );
  if (documents.some((document) => isGone(collection, document))) throw outcomeUnknown();
  return { ids, documents };
};

/** True of a clash with what an earlier run stores at this very moment: nobody else has the id. */
export const isWithEarlier = ({ errors = [] }: AppError): boolean =>
  errors[0]?.field === '_id' && earlierIds(1) !== undefined;

/** Turns a clash with an earlier run into 503: the next repeat finds what that one stored. */
export const orEarlier = (clash: AppError): never => {
  throw isWithEarlier(clash) ? unavailable(clash) : clash;
};
