import {
  type Collection as Documents,
  MongoBulkWriteError,
  type Document as MongoDocument,
  type ObjectId,
} from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { onCollection } from '../../collections/find-collections.ts';
import { usersCollection } from '../../collections/names.ts';
import type { DeletionRef } from '../../collections/schema/references.ts';
import { isActive, isNotGone, isTrashed } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { describeError, log } from '../../core/log.ts';
import type { Project } from '../../projects/project.ts';
import { isHooked, withWebhookEvent } from '../../webhooks/events.ts';
import { countingOf, type Document } from '../document.ts';
import { allOf, type Condition } from '../query/condition.ts';
import type { Follower, Removed } from './cascade-records.ts';
import { joinOperators } from './operations.ts';
import { stamped } from './stamps.ts';
import { writeTombstones } from './tombstones.ts';

/** A large batch takes time to write. */
const batchMs = 30_000;

/** The documents that refer to removed ones and must follow. */
export const referring = ({ ids, kind, at }: Removed, { source, ref: { path, onDelete } }: Follower): Condition => {
  const refers: Condition = { [path]: { $in: [...ids] } };
  if (onDelete === 'restrict') return allOf([{ ...refers, deletedAt: null }, isActive]);
  if (onDelete !== 'trash') return source.feed ? allOf([refers, isNotGone]) : refers;
  if (kind === 'recover') return { ...refers, isDeleted: true, deletedAt: at };
  return allOf([{ ...refers, deletedAt: null }, isActive]);
};

/** Operators that remove references from a document: the field, or elements of an array. */
const withoutReferences = ({ steps }: Pick<DeletionRef, 'steps'>, ids: readonly ObjectId[]) => {
  const removed = { $in: [...ids] };
  const isPulled = steps.at(-1)?.isArray === true;
  const arrayFilters: MongoDocument[] = [];
  const keys = steps.map(({ key, isArray }, index) => {
    if (!isArray || index === steps.length - 1) return key;
    const name = `e${index}`;
    const rest = steps.slice(index + 1).map((step) => step.key);
    arrayFilters.push({ [`${name}.${rest.join('.')}`]: removed });
    return `${key}.$[${name}]`;
  });
  const at = keys.join('.');
  return {
    update: isPulled ? { $pull: { [at]: removed } } : { $unset: { [at]: '' } },
    ...(arrayFilters.length > 0 && { arrayFilters }),
  };
};

/** The update of a document that follows. */
interface Change {
  readonly update: MongoDocument;
  readonly arrayFilters?: MongoDocument[];
}

/** The update for each document; `null` if they are deleted permanently. */
const changeOf = (removed: Removed, { ref }: Follower): Change | null => {
  switch (ref.onDelete) {
    case 'unset': {
      const { update, ...filters } = withoutReferences(ref, removed.ids);
      return { update: { ...update, $set: { updatedAt: new Date(clock.now()) } }, ...filters };
    }
    case 'trash':
      return removed.kind === 'recover'
        ? { update: { $set: { isDeleted: false, deletedAt: null } } }
        : { update: { $set: { isDeleted: true, deletedAt: removed.at } } };
    default:
      return null;
  }
};

/**
 * Writes documents one by one in one command, so that one that fails, for example because its unique value is taken,
 * stops no other. Returns how many were written.
 */
const writeEach = async (
  project: Project,
  documents: Documents,
  source: Collection,
  condition: Condition,
  found: readonly Document[],
  { update, arrayFilters }: Change,
): Promise<number> => {
  const writes = found.map((document) => {
    const { where, operators } = stamped({ project, collection: source }, countingOf(document));
    return {
      updateOne: {
        filter: allOf([{ _id: document._id }, condition, where]),
        update: joinOperators(update, operators),
        ...(arrayFilters && { arrayFilters }),
      },
    };
  });
  try {
    return (await documents.bulkWrite(writes, { ordered: false })).modifiedCount;
  } catch (error) {
    const isPartial = error instanceof MongoBulkWriteError && [error.writeErrors].flat().length > 0;
    if (!isPartial) throw error;
    log.warn({ message: 'Documents could not follow', collection: source.name, error: describeError(error) });
    return error.result.modifiedCount;
  }
};

/** Writes the documents that were found to refer to removed ones. Returns how many followed. */
export const writeFollowers = async (
  project: Project,
  removed: Removed,
  follower: Follower,
  found: readonly Document[],
): Promise<number> => {
  const { source } = follower;
  const condition = referring(removed, follower);
  const change = changeOf(removed, follower);
  const inOne = (some: readonly Document[]): Promise<number> =>
    onCollection(
      project,
      source.name,
      async (db) => {
        const documents = db.collection(source.name);
        if (change) return writeEach(project, documents, source, condition, some, change);
        const chosen = { _id: { $in: some.map(({ _id }) => _id) } };
        if (source.feed?.on) return writeTombstones(documents, source, chosen, condition);
        return (await documents.deleteMany(allOf([chosen, condition]), { hint: '_id_' })).deletedCount;
      },
      batchMs,
    );
  if (source.name !== usersCollection || !isHooked(project, 'user')) return inOne(found);
  let written = 0;
  for (const user of found) {
    const source = { event: 'user.updated', thing: `user/${user._id.toHexString()}` } as const;
    written += await withWebhookEvent(project, source, () => inOne([user]), Boolean);
  }
  return written;
};

/** The removals of the documents that follow; none if only a reference is removed. */
export const removalsOf = (
  removed: Removed,
  { source, ref }: Follower,
  found: readonly Document[],
): readonly Removed[] => {
  if (ref.onDelete === 'unset') return [];
  const of = (documents: readonly Document[], kind: Removed['kind'], wasActive: boolean): Removed => ({
    collection: source.name,
    ids: documents.map(({ _id }) => _id),
    kind,
    wasActive,
    at: removed.at,
  });
  if (ref.onDelete === 'trash') return [of(found, removed.kind === 'recover' ? 'recover' : 'trash', true)];
  const [trashed, active] = [found.filter(isTrashed), found.filter((each) => !isTrashed(each))];
  return [of(active, 'delete', true), of(trashed, 'delete', false)].filter(({ ids }) => ids.length > 0);
};
