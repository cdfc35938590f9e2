import { clock } from '../../core/clock.ts';
import { AppError, type ErrorDetail, type FieldError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { AccessContext } from '../access/access.ts';
import type { Document } from '../document.ts';
import { boundedQuery } from '../query/bounded-query.ts';
import { allOf, type Condition } from '../query/condition.ts';
import { referring, removalsOf } from './cascade.ts';
import { type Follower, followersOf, isFollowed, mayBeFollowed, type Removed } from './cascade-records.ts';

/** Counting further would not help the caller. */
const maxCounted = 10_000;

/** The number of documents that follow immediately. */
export const followedAtOnce = 1000;

/** The search along a chain ends after this time. */
const chainMs = 5000;

type Target = Pick<AccessContext, 'project' | 'collection' | 'caller'>;

/** References from trashed documents do not count. */
const isHeld = ({ kind, wasActive }: Pick<Removed, 'kind' | 'wasActive'>): boolean => kind === 'trash' || wasActive;

/** A document of each state, to follow schemas without reading documents. */
const eitherState: readonly Document[] = [
  { _id: newId(), isDeleted: false },
  { _id: newId(), isDeleted: true },
];

/** Whether there is a `restrict` anywhere along the chain of references. Reads schemas only. */
const isRestricted = async ({ project }: Target, removed: Removed): Promise<boolean> => {
  const seen = new Set<string>();
  const chain = [removed];
  for (const each of chain) {
    const { collection, kind, wasActive } = each;
    const name = `${collection} ${kind} ${wasActive}`;
    if (seen.has(name)) continue;
    seen.add(name);
    for (const follower of await followersOf(project, collection)) {
      if (follower.ref.onDelete === 'restrict' && isHeld(each)) return true;
      if (isFollowed(follower.ref, each)) {
        chain.push(...removalsOf(each, follower, eitherState));
      }
    }
  }
  return false;
};

/** The documents that are removed together: the first ones that follow, and those that follow these. */
const chainOf = async ({ project }: Target, removed: Removed): Promise<readonly Removed[]> => {
  const end = clock.now() + chainMs;
  const chain = [removed];
  const seen = new Set(removed.ids.map(String));
  for (const each of chain) {
    for (const follower of await followersOf(project, each.collection)) {
      const limit = followedAtOnce + removed.ids.length - seen.size;
      if (!isFollowed(follower.ref, each) || follower.ref.onDelete === 'unset') continue;
      if (limit <= 0 || clock.now() > end) return chain;
      const { source, ref } = follower;
      const found = await boundedQuery(
        project,
        source.name,
        () => ['following', ref.path],
        (db, maxTimeMS) =>
          db
            .collection<Document>(source.name)
            .find(referring(each, follower), { projection: { isDeleted: 1 }, limit, maxTimeMS })
            .toArray(),
      );
      const fresh = found.filter(({ _id }) => !seen.has(String(_id)));
      for (const { _id } of fresh) seen.add(String(_id));
      if (fresh.length > 0) chain.push(...removalsOf(each, follower, fresh));
    }
  }
  return chain;
};

/** The number of active documents outside the chain that prevent the removal. */
const countKept = async (
  { project, caller }: Target,
  chain: readonly Removed[],
  removed: Removed,
  follower: Follower,
): Promise<number> => {
  const { source, ref } = follower;
  // Documents that are removed together do not prevent it.
  const together = chain.flatMap(({ collection, ids }) => (collection === source.name ? ids : []));
  const others: Condition = together.length > 0 ? { _id: { $nin: together } } : {};
  const limit = caller.kind === 'secret' ? maxCounted : 1;
  return boundedQuery(
    project,
    source.name,
    () => ['references', ref.path],
    (db, maxTimeMS) =>
      db.collection(source.name).count(allOf([referring(removed, follower), others]), { limit, maxTimeMS }),
  );
};

const keptBy = async (target: Target, chain: readonly Removed[]): Promise<readonly FieldError[]> => {
  const errors: FieldError[] = [];
  for (const [index, removed] of chain.entries()) {
    if (!isHeld(removed)) continue;
    const followers = await followersOf(target.project, removed.collection);
    const restricting = followers.filter(({ ref }) => ref.onDelete === 'restrict');
    const counted = await Promise.all(
      restricting.map(async (follower) => ({ follower, count: await countKept(target, chain, removed, follower) })),
    );
    for (const { follower, count } of counted) {
      if (count === 0) continue;
      const [field, collection] = [follower.ref.path, follower.source.name];
      const what =
        index === 0 ? 'this document' : `a document of "${removed.collection}" that would be deleted with it`;
      errors.push({ field, collection, count, message: `"${collection}" refers to ${what} in "${field}"` });
    }
  }
  return errors;
};

/** The error details for the publishable key: only the collections. */
const withoutFields = (errors: readonly FieldError[]): readonly ErrorDetail[] =>
  [...new Set(errors.map(({ collection = '' }) => collection))].map((collection) => ({
    collection,
    message: `"${collection}" refers to this document, or to one that would be deleted with it`,
  }));

/**
 * Throws 409 `STILL_REFERENCED` if active documents refer to a document that would be removed, or that would follow
 * immediately.
 */
export const requireUnrestricted = async (target: Target, removed: Removed): Promise<void> => {
  if (!mayBeFollowed(target.project, removed.collection) || !(await isRestricted(target, removed))) return;
  const found = await keptBy(target, await chainOf(target, removed));
  const [first] = found;
  if (!first) return;
  const errors = target.caller.kind === 'secret' ? found : withoutFields(found);
  const message = `Documents of "${first.collection}" still refer to this one, or to one that would be deleted with it. Delete them first, or change their references.`;
  throw new AppError('STILL_REFERENCED', message, { errors });
};
