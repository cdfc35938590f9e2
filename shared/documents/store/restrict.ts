import type { ObjectId } from 'mongodb';
import { findCollections } from '../../collections/find-collections.ts';
import { restrictedRefs } from '../../collections/schema/references.ts';
import { isActive, isTrashed } from '../../collections/trash-conditions.ts';
import { AppError, type FieldError } from '../../core/errors.ts';
import type { AccessContext } from '../access/access.ts';
import type { JsonObject } from '../document.ts';
import { boundedQuery } from '../query/bounded-query.ts';
import { allOf } from '../query/condition.ts';
import type { Settle } from './settle-update.ts';

/** Counting more would say nothing else. */
const maxCounted = 10_000;

type Target = Pick<AccessContext, 'project' | 'collection' | 'caller'>;

/** The collections that may have a Ref with `"onDelete": "restrict"` to this one. */
const sourcesOf = ({ project, collection }: Target): readonly string[] =>
  (project.restricts ?? []).flatMap(({ by, target }) => (target === collection.name ? [by] : []));

/** Whether a deletion in the collection may be refused; false for all that no Ref with `onDelete` points into. */
const mayBeRestricted = (target: Target): boolean => sourcesOf(target).length > 0;

const referencesTo = async (target: Target, id: ObjectId): Promise<readonly FieldError[]> => {
  const { project, collection, caller } = target;
  const sources = await findCollections(project, sourcesOf(target));
  const counted = await Promise.all(
    [...sources.values()].flatMap((source) =>
      restrictedRefs(source)
        .filter(({ ref }) => ref === collection.name)
        .map(async ({ path }) => {
          // A document that refers to itself keeps nothing.
          const others = source.name === collection.name ? [{ _id: { $ne: id } }] : [];
          const condition = allOf([{ [path]: id, deletedAt: null }, isActive, ...others]);
          const limit = caller.kind === 'secret' ? maxCounted : 1;
          const count = await boundedQuery(
            project,
            source.name,
            () => ['references', path],
            (db, maxTimeMS) => db.collection(source.name).count(condition, { limit, maxTimeMS }),
          );
          return { field: path, collection: source.name, count };
        }),
    ),
  );
  return counted
    .filter(({ count }) => count > 0)
    .map((error) => ({ ...error, message: `"${error.collection}" refers to this document in "${error.field}"` }));
};

/** What callers with the publishable key are told: the collections alone. */
const withoutFields = (errors: readonly FieldError[]): readonly FieldError[] =>
  [...new Set(errors.map(({ collection }) => collection))].map((collection) => ({
    field: '',
    collection: collection ?? '',
    message: `"${collection}" refers to this document`,
  }));

/** Refuses a deletion while active documents refer to the document: 409 `STILL_REFERENCED`. */
export const requireUnreferenced = async (target: Target, id: ObjectId): Promise<void> => {
  if (!mayBeRestricted(target)) return;
  const found = await referencesTo(target, id);
  const [first] = found;
  if (!first) return;
  const errors = target.caller.kind === 'secret' ? found : withoutFields(found);
  const message = `Documents of "${first.collection}" still refer to this one. Delete them first, or let them refer to another.`;
  throw new AppError('STILL_REFERENCED', message, { errors });
};

/**
 * Decides about the deletion of a document that was read, and that the caller may delete; one in the trash is referred
 * to by nothing that counts. `undefined` if nothing can refer to documents of the collection.
 */
export const restrictDeletion = (visit: AccessContext, fields: JsonObject): Settle | undefined => {
  if (!mayBeRestricted(visit)) return undefined;
  return async (document) => {
    if (!isTrashed(document)) await requireUnreferenced(visit, document._id);
    return fields;
  };
};
