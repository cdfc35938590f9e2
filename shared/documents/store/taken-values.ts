import { isTrashed } from '../../collections/trash-conditions.ts';
import { onProject } from '../../persistence/mongo.ts';
import { takenValue } from '../../persistence/mongo-errors.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { AccessContext } from '../access/access.ts';
import type { Document, JsonObject } from '../document.ts';
import { type ConflictTarget, hasValues, having, uniqueTargets } from './conflict-target.ts';

type Owned = Pick<AccessContext, 'project' | 'collection'>;

/** Whether the index of a target contains a document in memory. */
const isAmong = ({ among, fields }: ConflictTarget, document: Document): boolean =>
  !('deletedAt' in among && isTrashed(document)) && fields.some((name) => (document[name] ?? null) !== null);

const valuesOf = ({ fields }: ConflictTarget, document: Document): JsonObject =>
  Object.fromEntries(fields.map((name) => [name, document[name] ?? null]));

const isStored = async (
  { project, collection }: Owned,
  target: ConflictTarget,
  values: JsonObject,
  others: readonly Document[],
): Promise<boolean> => {
  const { collation } = target;
  const filter = { $and: [having(target, values), { _id: { $nin: others.map(({ _id }) => _id) } }] };
  const options = { projection: { _id: 1 }, maxTimeMS, ...(collation && { collation }) };
  return (await onProject(project, (db) => db.collection(collection.name).findOne(filter, options))) !== null;
};

/**
 * Throws 409 `DUPLICATE_VALUE` if another document has a unique value of a document that a dry run would store. `left`
 * has documents of the collection as the dry run leaves them.
 */
export const requireUntaken = async (
  owned: Owned,
  before: Document | undefined,
  after: Document,
  left: readonly Document[],
): Promise<void> => {
  for (const target of uniqueTargets(owned.collection)) {
    const values = valuesOf(target, after);
    const isKept = before !== undefined && isAmong(target, before) && hasValues(target, values, before);
    if (isKept || !isAmong(target, after)) continue;
    const others = left.filter(({ _id }) => !_id.equals(after._id));
    const isTaken =
      others.some((each) => isAmong(target, each) && hasValues(target, values, each)) ||
      (await isStored(owned, target, values, [...others, after]));
    if (isTaken) throw takenValue(target.label);
  }
};
