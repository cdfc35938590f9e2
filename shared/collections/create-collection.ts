import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, ObjectId } from 'mongodb';
import { projectSaved } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { onDuplicateKey, retryOnConflict } from '../core/retry.ts';
import { changeHeld, deleteHeld } from '../persistence/lease.ts';
import { hasCode } from '../persistence/mongo-errors.ts';
import { freeSlot } from '../projects/create-project.ts';
import { plans } from '../projects/plans.ts';
import { type Project, projectRecords } from '../projects/project.ts';
import type { Collection, Feed } from './collection.ts';
import { type CollectionRecord, collectionRecords, leasedCollections, leaseEnd } from './collection-record.ts';
import { dropCollection, mayGoOn, takeOverDeletion } from './delete-collection.ts';
import { dueFields, hasDueWork, sendsMail } from './effects/effect.ts';
import { effectList } from './effects/parse-effects.ts';
import { customerUriOf, onCollection, summarize } from './find-collections.ts';
import { buildMissing } from './indexes/build.ts';
import { managedIndexes, requireIndexRoom } from './indexes/indexes.ts';
import { collectionNameShape, isCollectionName, schemaError, usersCollection } from './names.ts';
import { checkRules } from './rules/check-rules.ts';
import { requireOwners } from './schema/field-rights.ts';
import type { SearchLanguage } from './schema/field-types.ts';
import { parsePartition } from './schema/partition.ts';
import { deletionRefs, requireUsersStay } from './schema/references.ts';
import {
  newFeed,
  parseRowSecurity,
  type RowSecurityInput,
  requireFeedFits,
  withoutOwnerDefault,
} from './schema/row-security.ts';
import { parseSchema } from './schema/schema.ts';
import { parseUniqueLists } from './schema/unique-lists.ts';
import { toUsersSchema } from './schema/users.ts';

/** How long a creation waits for a running deletion of the same name. */
const patienceMs = 3000;
const pauseMs = 100;

const limitReached = ({ plan }: Project): AppError =>
  new AppError(
    'PLAN_LIMIT',
    `The ${plan} plan allows ${plans[plan].collections} collections in a project. Delete one, or ask the operator of this service for a larger plan.`,
  );

const whatIsTaken = ({ name, state }: CollectionRecord): string => {
  if (state === 'creating') return `A collection "${name}" is just being created. Retry in a moment.`;
  if (state === 'deleting') return `The collection "${name}" is still being deleted. Retry in a few minutes.`;
  return `This project already has a collection "${name}". Names ignore upper and lower case.`;
};

const alreadyExists = (record: CollectionRecord): AppError => new AppError('COLLECTION_EXISTS', whatIsTaken(record));

const recordsOf = (project: Project): Promise<CollectionRecord[]> =>
  collectionRecords.find(
    { projectId: new ObjectId(project.id) },
    { projection: { schema: 0, indexes: 0 }, sort: { slot: 1 } },
  );

const insert = async (record: CollectionRecord): Promise<CollectionRecord | null> => {
  const inserted = collectionRecords.insertOne(record);
  return (await onDuplicateKey(inserted, () => null)) && record;
};

const attempt = async (project: Project, wanted: Collection, waitUntil: number): Promise<CollectionRecord | null> => {
  const records = await recordsOf(project);
  const nameKey = wanted.name.toLowerCase();
  const now = new Date(clock.now());
  const same = records.find((record) => record.nameKey === nameKey);
  if (same?.state === 'active') throw alreadyExists(same);
  if (same?.state === 'creating' && same.updatedAt > leaseEnd('creating')) throw alreadyExists(same);
  if (same?.state === 'deleting' && same.updatedAt > leaseEnd('deleting')) {
    if (performance.now() >= waitUntil) throw alreadyExists(same);
    await sleep(pauseMs);
    return null;
  }
  const slot = freeSlot(
    records.flatMap((record) => (typeof record.slot === 'number' && record !== same ? record.slot : [])),
    plans[project.plan].collections,
  );
  if (slot === undefined) throw limitReached(project);
  if (same) {
    await takeOverDeletion(project, same);
    return null;
  }
  const projectId = new ObjectId(project.id);
  return insert({
    _id: newId(),
    projectId,
    slot,
    state: 'creating',
    nameKey,
    ...wanted,
    ...(hasDueWork(wanted) && { effectsDueAt: now }),
    createdAt: now,
    updatedAt: now,
  });
};

/**
 * Reserves name and slot by unique indexes, so both limits are exact under concurrency. Throws 409 `COLLECTION_EXISTS`
 * for the same name in any case, 403 `PLAN_LIMIT`.
 */
const reserveCollection = (project: Project, wanted: Collection): Promise<CollectionRecord> => {
  const waitUntil = performance.now() + patienceMs;
  return retryOnConflict('Too many collections are being created at the same time. Retry.', () =>
    attempt(project, wanted, waitUntil),
  );
};

/** Together well below the lease of a creation. */
const prepareLimitMs = 10_000;
const dropMs = 4000;
const namespaceExists = 48;

export interface CollectionInput {
  readonly schema: unknown;
  readonly rls?: RowSecurityInput | null | undefined;
  readonly searchLanguage?: SearchLanguage | undefined;
  readonly changes?: boolean | undefined;
  readonly closed?: boolean | undefined;
  readonly unique?: unknown;
  readonly effects?: unknown;
  readonly partition?: unknown;
}

export const parseCollection = (
  name: string,
  input: CollectionInput,
  feed: Feed | null = newFeed(input.changes ?? false),
): Collection => {
  const { schema: given, rls, searchLanguage, closed = false, unique, effects: sent } = input;
  requireCollectionName(name);
  const parsed = parseSchema(given);
  const schema = name === usersCollection ? toUsersSchema(parsed) : parsed;
  if (closed && schema === null) {
    throw schemaError('closed', 'needs a schema: define the fields, or send "closed": false');
  }
  const rowSecurity = parseRowSecurity(rls, name, schema);
  requireOwners(name, schema, rowSecurity);
  const uniqueLists = parseUniqueLists({ name, schema, rls: rowSecurity }, unique);
  const effects = effectList({ name }, sent);
  requireFeedFits(name, schema, feed);
  if (name === usersCollection) requireUsersStay(schema);
  const partition = parsePartition(name, schema, input.partition);
  const ofOthers = (partition === undefined ? 0 : 1) + (sendsMail({ effects }) ? 1 : 0) + dueFields({ effects }).length;
  requireIndexRoom(schema ?? [], feed?.on, uniqueLists.length + deletionRefs({ schema }).length + ofOthers);
  return {
    name,
    schema: withoutOwnerDefault(schema, rowSecurity),
    rls: rowSecurity,
    feed,
    ...(searchLanguage && { searchLanguage }),
    ...(closed && { closed }),
    ...(uniqueLists.length > 0 && { uniqueLists }),
    ...(effects.length > 0 && { effects }),
    ...(partition !== undefined && { partition }),
  };
};

/** Inserts during a deletion may have left documents. */
const dropLeftover = async (db: Db, name: string): Promise<void> => {
  const [leftover] = await db.listCollections({ name }, { nameOnly: true }).toArray();
  if (leftover) await dropCollection(db, name, dropMs);
};

const prepare = (project: Project, collection: Collection): Promise<void> =>
  onCollection(
    project,
    collection.name,
    async (db) => {
      const own = customerUriOf(project, collection.name) !== undefined;
      if (!own) await dropLeftover(db, collection.name);
      await db.createCollection(collection.name).catch((error: unknown) => {
        if (!hasCode(error, namespaceExists)) throw error;
      });
      const indexes = managedIndexes(collection);
      // A customer's database may already have the collection and its indexes.
      if (own) await buildMissing(db, collection.name, indexes);
      else await db.collection(collection.name).createIndexes([...indexes]);
    },
    prepareLimitMs,
  );

/** Records where deletions must look for references; written before the schema takes effect. */
export const noteReferences = async (project: Project, collection: Collection): Promise<void> => {
  const targets = new Set(deletionRefs(collection).map(({ ref }) => ref));
  if (targets.size === 0) return;
  const restricts = [...targets].map((target) => ({ by: collection.name, target }));
  await projectRecords.updateOne({ _id: new ObjectId(project.id) }, { $addToSet: { restricts: { $each: restricts } } });
};

const activate = async (record: CollectionRecord): Promise<void> => {
  if (await changeHeld(leasedCollections, record, { $set: { state: 'active' } })) return;
  throw new AppError('SERVICE_UNAVAILABLE', 'Creating the collection took too long. Retry.', {
    retryAfter: 1,
  });
};

/**
 * Callers see the collection only after all indexes are built. An interrupted creation is continued by the next one of
 * the same name. Throws like `parseCollection` and `reserveCollection`.
 */
export const createCollection = async (project: Project, name: string, input: CollectionInput) => {
  const collection = await checkRules(project, parseCollection(name, input), true);
  const record = await reserveCollection(project, collection);
  try {
    await prepare(project, collection);
    await noteReferences(project, collection);
    await activate(record);
    projectSaved(project.id);
  } catch (error) {
    if (!mayGoOn(error)) await deleteHeld(leasedCollections, record).catch(() => undefined);
    throw error;
  }
  return summarize(project, record);
};

export const requireCollectionName = (name: string): void => {
  if (!collectionNameShape.test(name)) {
    throw new AppError(
      'INVALID_NAME',
      'A collection name begins with a letter and has at most 63 letters, digits, _ and -.',
    );
  }
  if (!isCollectionName(name)) {
    throw new AppError(
      'INVALID_NAME',
      'Collection names that begin with users or system are reserved; users itself is for user accounts.',
    );
  }
};
