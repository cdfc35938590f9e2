import type { ObjectId } from 'mongodb';
import { countEffectWrites } from '../../collections/effects/effect.ts';
import { isGone } from '../../collections/trash-conditions.ts';
import type { AppError } from '../../core/errors.ts';
import { earlierIds } from '../../core/ids.ts';
import { outcomeUnknown } from '../../persistence/idempotency.ts';
import { onProject } from '../../persistence/mongo.ts';
import { unavailable } from '../../persistence/mongo-errors.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { AccessContext } from '../access/access.ts';
import type { Document } from '../document.ts';
import { currentScope } from './joint-scope.ts';

/** The documents that an interrupted earlier run of this request stored. They have the same ids. */
interface StoredEarlier {
  /** The ids of all documents of the request, in order. */
  readonly ids: readonly ObjectId[];
  readonly documents: readonly Document[];
}

/**
 * Throws 409 `IDEMPOTENCY_OUTCOME_UNKNOWN` if an earlier run stored documents without a transaction, because it is
 * unknown whether it ran their effects.
 */
const requireComplete = ({ collection }: AccessContext, { documents }: StoredEarlier): void => {
  const isAtomic = currentScope.getStore()?.isAtomic !== false;
  if (documents.length > 0 && !isAtomic && countEffectWrites(collection, 'create') > 0) throw outcomeUnknown();
};

/**
 * The documents that an earlier run stored of its first `count`; `undefined` if there was none. Throws 409
 * `IDEMPOTENCY_OUTCOME_UNKNOWN` if one was replaced by a tombstone, because it cannot be stored again.
 */
export const storedEarlier = async (context: AccessContext, count: number): Promise<StoredEarlier | undefined> => {
  const { project, collection } = context;
  const ids = earlierIds(count);
  if (!ids) return undefined;
  const documents = await onProject(project, (db) =>
    db
      .collection<Document>(collection.name)
      .find({ _id: { $in: [...ids] } }, { maxTimeMS })
      .toArray(),
  );
  if (documents.some((document) => isGone(collection, document))) throw outcomeUnknown();
  requireComplete(context, { ids, documents });
  return { ids, documents };
};

/** True for a clash with an earlier run that is still storing: no other request has the id. */
export const isWithEarlier = ({ errors = [] }: AppError): boolean =>
  errors[0]?.field === '_id' && earlierIds(1) !== undefined;

/** Turns a clash with an earlier run into 503: the next retry finds what that run stored. */
export const throwUnlessRetried = (clash: AppError): never => {
  throw isWithEarlier(clash) ? unavailable(clash) : clash;
};
