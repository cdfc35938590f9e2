import type { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { onCollection } from '../../collections/find-collections.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { AppError, type ErrorDetail, type FieldError, isClientError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { logFailure, tryOrLog } from '../../core/log.ts';
import { deserialize, findRaw, maxTimeMS } from '../../persistence/raw-documents.ts';
import type { Project } from '../../projects/project.ts';
import type { AccessContext } from '../access/access.ts';
import type { Document, JsonObject } from '../document.ts';
import { boundedQuery } from '../query/bounded-query.ts';
import { allOf, type Condition } from '../query/condition.ts';
import { finishRun, follow, newRun } from './cascade.ts';
import {
  type CascadeRecord,
  cascadeRecords,
  type Follower,
  followersOf,
  isFollowed,
  mayBeFollowed,
  noteRemoval,
  type Removed,
  wakeCascades,
} from './cascade-records.ts';
import { referring, removalsOf } from './cascade-writes.ts';
import { afterwards, type JointScope, maxJointWrites, onJointFailure } from './joint-scope.ts';
import { isWatched, publishChange } from './publish.ts';
import type { Settle } from './settle-update.ts';

/** Counting further would not help the caller. */
const maxCounted = 10_000;

/** The number of documents that follow immediately. */
const followedAtOnce = 1000;

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

/** A request has 29 s, and one to a customer's own database 20. */
const followMs = 10_000;

/** Publishes what followed to live updates. Nothing depends on it, and the task does not do it. */
const publish = async (project: Project, source: Collection, ids: readonly ObjectId[]): Promise<void> => {
  if (!isWatched(source)) return;
  try {
    await onCollection(project, source.name, async (db) => {
      const options = { limit: ids.length, maxTimeMS };
      for await (const raw of findRaw(db, source.name, { _id: { $in: [...ids] } }, options)) {
        const written = raw.map((each) => deserialize(each) as Document);
        await publishChange({ project, collection: source, caller: { kind: 'secret' } }, written);
      }
    });
  } catch (error) {
    logFailure({ message: 'No one was notified of what followed a deletion', project: project.id }, error);
  }
};

/**
 * Makes the first documents follow. The task does the rest, or everything if this fails. In a joint run, the
 * documents that follow count towards its limit.
 */
const followNow = ({ project }: AccessContext, record: CascadeRecord, scope?: JointScope): Promise<boolean> =>
  tryOrLog('warn', { message: 'References are left to the job', project: project.id }, async () => {
    const limit = Math.min(followedAtOnce, maxJointWrites - (scope?.writes ?? 0));
    const run = newRun(project, limit, followMs, { publish: (source, ids) => publish(project, source, ids) });
    await follow(run, record);
    if (scope) scope.writes += limit - run.left;
    const seconds = await finishRun(run);
    if (seconds !== undefined) await wakeCascades(project.id, seconds);
  });

/**
 * Prepares the references to one document for its move to the trash, permanent deletion or recovery. Returns
 * `undefined`, without a command, if no Ref with `onDelete` points to the collection and it has no files. `settle`
 * rejects the write or stores the removal before it; `during` makes documents follow after it. `fields` are the
 * fields that the write sets.
 */
export const removalOf = (context: AccessContext, kind: Removed['kind'], fields: JsonObject) => {
  const { project, collection } = context;
  if (!mayBeFollowed(project, collection.name, kind)) return undefined;
  let record: CascadeRecord | undefined;
  const forget = async (noted: CascadeRecord | undefined): Promise<void> => {
    if (noted) await cascadeRecords.deleteOne({ _id: noted._id }).catch(() => undefined);
  };
  const settle: Settle = async (document) => {
    await forget(record);
    record = undefined;
    const { deletedAt } = kind === 'recover' ? document : fields;
    const removed: Removed = {
      collection: collection.name,
      ids: [document._id],
      kind,
      wasActive: !isTrashed(document),
      at: deletedAt instanceof Date ? deletedAt : new Date(clock.now()),
    };
    if (kind !== 'recover') await requireUnrestricted(context, removed);
    record = await noteRemoval(project, removed);
    const noted = record;
    onJointFailure(() => forget(noted));
    return fields;
  };
  const during = async <T>(write: () => Promise<T>): Promise<T> => {
    try {
      const written = await write();
      if (record) {
        const noted = record;
        await afterwards((scope) => followNow(context, noted, scope));
      }
      return written;
    } catch (error) {
      // After other errors, the write may have happened. The task finds out.
      if (isClientError(error)) await forget(record);
      throw error;
    }
  };
  return { settle, during };
};
